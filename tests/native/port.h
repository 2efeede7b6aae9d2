/* What tests ask of the system, the same on POSIX and on Windows.
 *
 * A child runs `fn` in a process of its own. Where there is no fork() it is this program begun anew, so `fn` may use
 * its argument, which is copied, the memory that is shared, and what it makes itself. PORT_FORKS: whether children have
 * all that the parent has. */
#ifndef GBT_TEST_PORT_H
#define GBT_TEST_PORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
enum { PORT_FORKS = 0 };
#else
enum { PORT_FORKS = 1 };
#endif

/* Seconds of the processor: all threads, and children that have ended, where the system counts them. */
double port_processor_s(void);
/* Of this process alone. */
double port_own_processor_s(void);
void port_sleep_ns(int64_t ns);
/* Calls fn, on whatever thread, when so many seconds have passed; 0: no more. */
void port_alarm(int seconds, void (*fn)(void));

/* NULL when there is no memory. */
void *port_aligned(size_t alignment, size_t bytes);
void port_aligned_free(void *block);

enum { PORT_PATH = 512 };
/* A path, in the folder for temporary files, that nothing has yet. */
void port_temp_path(char out[PORT_PATH], const char *what);
/* 0 when it is done. */
int port_make_folder(const char *path);
int port_remove_folder(const char *path);
/* Whether it was made: not every system has them, or grants them to every user. */
int port_make_pipe(const char *path);
int port_make_link(const char *to, const char *path, int hard);
/* Puts a text out at once, on whatever thread. */
void port_say(const char *text);
/* What swallows all that is written to it. */
const char *port_nowhere(void);

/* Zeros that children see and change, too; NULL when there is none. One at a time. */
void *port_shared_new(size_t bytes);
void port_shared_free(void *shared);

typedef struct port_child {
  intptr_t process;
} port_child;

typedef int (*port_child_fn)(const void *arg, void *shared);
/* Whether it has begun. Its exit status is what fn returns: 0 when all is well. */
int port_child_start(port_child *child, port_child_fn fn, const void *arg, size_t n_arg, void *shared);
/* Waits for its end: 0, or what port_ended() tells. */
int port_child_wait(port_child *child);
void port_child_kill(port_child *child);
int port_child_run(port_child_fn fn, const void *arg, size_t n_arg, void *shared);
/* "status 2", "signal 11": says how a child has ended. */
const char *port_ended(int how);
/* Whether it has ended by itself, and with which status; -1 when not. */
int port_status(int how);

/* A function as a number that means the same one in a child. */
intptr_t port_number_of(void (*fn)(void));
void (*port_function_of(intptr_t number))(void);

/* For main(): whether this process is such a child, and what it is to do; its exit status. port_where: "suite/test",
 * for reports. */
int port_is_child(int argc, char **argv);
int port_be_child(char **argv);
extern char port_where[256];

#endif
