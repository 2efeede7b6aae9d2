/* A clock that runs as the test wants. The Makefile wraps clock_gettime for this. */
#ifndef GBT_TEST_CLOCK_H
#define GBT_TEST_CLOCK_H

#include <stdint.h>

/* Every look at a clock from now on moves it on by so much: with 20 ms or more every gbt_ctx_poll asks the host.
 * 0: back to the true time. For calls with one thread; waits of others would be as much too long. */
void clock_jump(int64_t ns_each);

/* The time of day stands at `seconds` since 1970. 0: back to the true time. */
void clock_day(int64_t seconds);

/* A host that is asked whether to stop: it counts, and says yes at the stop_at-th time; 0: never. */
typedef struct asker {
  int64_t n_asked, stop_at;
} asker;

int asker_ask(void *user); /* an asker */

#endif
