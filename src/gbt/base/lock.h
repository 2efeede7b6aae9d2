/* A mutex whose waiters sleep. Guards merges of integer sums, whose result does not depend on the threads' order. */
#ifndef GBT_BASE_LOCK_H
#define GBT_BASE_LOCK_H

#ifndef GBT_NO_THREADS
#include <pthread.h>

typedef struct gbt_lock {
  pthread_mutex_t mutex;
} gbt_lock;

static inline int gbt_lock_init(gbt_lock *lock) { return pthread_mutex_init(&lock->mutex, NULL) == 0; }
static inline void gbt_lock_destroy(gbt_lock *lock) { pthread_mutex_destroy(&lock->mutex); }
static inline void gbt_lock_take(gbt_lock *lock) { pthread_mutex_lock(&lock->mutex); }
static inline void gbt_lock_give(gbt_lock *lock) { pthread_mutex_unlock(&lock->mutex); }

#else

typedef struct gbt_lock {
  int unused;
} gbt_lock;

static inline int gbt_lock_init(gbt_lock *lock) { return lock->unused = 0, 1; }
static inline void gbt_lock_destroy(gbt_lock *lock) { (void)lock; }
static inline void gbt_lock_take(gbt_lock *lock) { (void)lock; }
static inline void gbt_lock_give(gbt_lock *lock) { (void)lock; }

#endif
#endif
