/* A stack of its own to run on. Fibers are made once and run for ever: `entry` must not return.
 *
 * The sanitizers know: address (which stack is in use) and thread (every fiber is a thread to it, and switching
 * orders nothing; what orders threads is declared with release and acquire). Define SIMT_ASAN or SIMT_TSAN for them. */
#pragma once

#include <cstddef>

namespace simt {

struct Fiber {
  void *stack_pointer; /* while it does not run */
  char *stack;
  size_t stack_bytes;
  void *sanitizer; /* TSAN: its thread; ASAN: its fake stack */
  void *context;   /* where there is no assembler for the machine */
};

/* number: shifts the stack a little, so that the stacks of a block do not share cache sets. */
void fiber_make(Fiber *fiber, void (*entry)(), unsigned number);
void fiber_home(Fiber *home); /* the stack that the host thread runs on */
void fiber_switch(Fiber *from, Fiber *to);
void fiber_entered(); /* to be called first on a new fiber */

/* What came before a release comes before what follows an acquire of the same tag. */
void release(void *tag);
void acquire(void *tag);

} // namespace simt
