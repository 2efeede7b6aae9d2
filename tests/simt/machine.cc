/* Threads, warps, blocks, grids.
 *
 *   lane[number]          the block's threads; a lane is RUNNING, READY, AT_BLOCK, AT_WARP or DONE
 *   ready[0 .. n_ready)   those that may run; the last one goes first, or with random order any
 *   warp[number / 32]     which of its lanes exist, have ended, wait in a collective
 *
 * A lane runs until it waits; then it finds out whether that was what others have waited for, and the next ready lane
 * runs. When no lane is ready the host's stack is: the block has ended, or never will.
 *
 * For the thread sanitizer there are two sets of lanes that neighbouring blocks take in turns, so that threads of
 * different blocks are different threads to it. Nothing orders them but the beginning and the end of the grid. */
#include "internal.h"

#include <cstdio>
#include <unistd.h>

#include "fiber.h"

namespace simt {

Thread *now;
Block block;
unsigned preempt;

enum State : uint8_t { READY, AT_BLOCK, AT_WARP, DONE };

struct Warp {
  unsigned exist, done, waiting; /* lanes */
  char tag;
};

struct Lane : Thread {
  Fiber fiber;
  Warp *warp;
  unsigned number;
  State state;
  Collective what;
  unsigned mask;
  int source;
  uint64_t in, out;
  const char *file; /* where it waits */
  int line;
};

static Lane lanes[2][MOST_THREADS], *lane;
static Warp warps[2][MOST_THREADS / 32], *warp;
static int n_made, n_lanes, n_live, n_ready, n_at_block, n_predicates;
static int ready[MOST_THREADS];
static Fiber home;
static const Launch *running;
static void (*kernel_body)(void *);
static void *kernel_args;
static unsigned phase; /* of the block's barrier */
static char tag_block[2][2], tag_begin, tag_end;

static Lane *self() { return static_cast<Lane *>(now); }

void die(const char *what, const char *file, int line) {
  const char *slash = strrchr(file, '/');
  fprintf(stderr, "simt: %s, at %s:%d", what, slash ? slash + 1 : file, line);
  if (running)
    fprintf(stderr, " (kernel %s, block %u,%u,%u, thread %u)", running->place.name, block.id.x, block.id.y, block.id.z,
            now ? self()->number : 0u);
  fprintf(stderr, "\n");
  fflush(stderr);
  _exit(86);
}

/* ---- whose turn it is ---- */

static void make_ready(Lane *l) {
  l->state = READY;
  ready[n_ready++] = (int)l->number;
}

static void next_turn(Lane *from) {
  Fiber *source = from ? &from->fiber : &home;
  if (n_ready == 0) {
    now = nullptr;
    if (source != &home) fiber_switch(source, &home);
    return;
  }
  int at = n_ready - 1;
  if (settings.order == SIMT_RANDOM) at = (int)(random64() % (uint64_t)n_ready);
  Lane *to = &lane[ready[at]];
  ready[at] = ready[--n_ready];
  now = to;
  if (to != from) fiber_switch(source, &to->fiber);
}

void give_way() {
  if (!now || random64() % preempt != 0) return;
  Lane *l = self();
  make_ready(l);
  next_turn(l);
}

/* ---- the barrier of the block ---- */

static void release_block() {
  if (n_at_block == 0 || n_at_block < n_live) return;
  const Lane *first = nullptr;
  for (int k = 0; k < n_lanes; k++) {
    Lane *l = &lane[settings.order == SIMT_REVERSE ? k : n_lanes - 1 - k];
    if (l->state != AT_BLOCK) continue;
    if (!first) first = l;
    if (l->line != first->line || strcmp(l->file, first->file) != 0) {
      fprintf(stderr, "simt: thread %u waits at line %d, thread %u at line %d\n", first->number, first->line, l->number,
              l->line);
      die("__syncthreads in divergent code", l->file, l->line);
    }
    l->out = (uint64_t)n_predicates;
    make_ready(l);
  }
  n_predicates = n_at_block = 0;
  phase++;
}

int wait_block(bool predicate, const char *file, int line) {
  Lane *l = self();
  char *tag = &tag_block[lane == lanes[1]][phase & 1];
  l->file = file;
  l->line = line;
  l->state = AT_BLOCK;
  n_at_block++;
  n_predicates += predicate;
  release(tag);
  release_block();
  next_turn(l);
  acquire(tag);
  return (int)l->out;
}

/* ---- collectives of a warp ---- */

/* What a lane gets from a shuffle that reads nobody. */
static const uint64_t nothing = 0xDEADBEEFDEADBEEFull;

static uint64_t reduced(const Lane *first, unsigned who) {
  uint64_t r = 0;
  bool begun = false;
  for (unsigned rest = who; rest; rest &= rest - 1) {
    uint64_t x = first[__builtin_ctz(rest)].in, y = begun ? r : x;
    switch (first[__builtin_ctz(rest)].what) {
    case BALLOT:
      r |= x ? 1ull << __builtin_ctz(rest) : 0;
      break;
    case ALL:
      r = (begun ? r : 1) & (x != 0);
      break;
    case ADD:
      r = (unsigned)(r + x);
      break;
    case MIN:
      r = x < y ? x : y;
      break;
    case MAX:
      r = x > y ? x : y;
      break;
    case MIN_SIGNED:
      r = (int)(unsigned)x < (int)(unsigned)y ? x : y;
      break;
    case MAX_SIGNED:
      r = (int)(unsigned)x > (int)(unsigned)y ? x : y;
      break;
    case AND:
      r = y & x;
      break;
    case OR:
      r |= x;
      break;
    case XOR:
      r ^= x;
      break;
    case MATCH_ALL:
      r = (begun ? r : who) && x == first[__builtin_ctz(who)].in ? who : 0;
      break;
    default:
      break;
    }
    begun = true;
  }
  return r;
}

static unsigned equal_to(const Lane *first, unsigned who, uint64_t value) {
  unsigned equal = 0;
  for (unsigned rest = who; rest; rest &= rest - 1)
    if (first[__builtin_ctz(rest)].in == value) equal |= 1u << __builtin_ctz(rest);
  return equal;
}

/* All of `who` have come: every lane's result. */
static void complete(Warp *w, Lane *first, unsigned who) {
  Collective what = first[__builtin_ctz(who)].what;
  uint64_t all = reduced(first, who);
  for (unsigned rest = who; rest; rest &= rest - 1) {
    Lane *l = &first[__builtin_ctz(rest)];
    if (what == SHUFFLE)
      l->out = who >> l->source & 1u ? first[l->source].in : nothing;
    else
      l->out = what == MATCH ? equal_to(first, who, l->in) : all;
  }
  w->waiting &= ~who;
  for (int k = 31; k >= 0; k--) {
    int i = settings.order == SIMT_REVERSE ? 31 - k : k;
    if (who >> i & 1u) make_ready(&first[i]);
  }
}

/* Whether all lanes that `l` waits for have come, to the same with the same mask. */
static bool all_came(const Warp *w, const Lane *first, const Lane *l, unsigned *who) {
  *who = l->mask & w->exist & ~w->done;
  if ((w->waiting & *who) != *who) return false;
  for (unsigned rest = *who; rest; rest &= rest - 1)
    if (first[__builtin_ctz(rest)].mask != l->mask) return false;
  for (unsigned rest = *who; rest; rest &= rest - 1) {
    const Lane *other = &first[__builtin_ctz(rest)];
    if (other->what == l->what) continue;
    fprintf(stderr, "simt: lane %u is at line %d, lane %u at line %d\n", l->lane, l->line, other->lane, other->line);
    die("lanes of one mask meet in different collectives", l->file, l->line);
  }
  return true;
}

static void release_warp(Warp *w) {
  Lane *first = lane + (w - warp) * 32;
  for (unsigned rest = w->waiting; rest; rest &= rest - 1) {
    unsigned who;
    Lane *l = &first[__builtin_ctz(rest)];
    if (!(w->waiting >> l->lane & 1u) || !all_came(w, first, l, &who)) continue;
    complete(w, first, who);
  }
}

uint64_t wait_warp(Collective what, unsigned mask, uint64_t value, int source, const char *file, int line) {
  Lane *l = self();
  Warp *w = l->warp;
  if (!(mask >> l->lane & 1u)) die("the calling lane is not in its mask", file, line);
  l->what = what;
  l->mask = mask;
  l->in = value;
  l->source = source;
  l->file = file;
  l->line = line;
  l->state = AT_WARP;
  w->waiting |= 1u << l->lane;
  release(&w->tag);
  unsigned who;
  if (all_came(w, lane + (w - warp) * 32, l, &who)) complete(w, lane + (w - warp) * 32, who);
  next_turn(l);
  acquire(&w->tag);
  return l->out;
}

/* ---- threads ---- */

static void live() {
  fiber_entered();
  for (;;) {
    acquire(&tag_begin);
    kernel_body(kernel_args);
    release(&tag_end);
    Lane *l = self();
    l->state = DONE;
    n_live--;
    l->warp->done |= 1u << l->lane;
    release_warp(l->warp);
    release_block();
    next_turn(l);
  }
}

static void make_lanes(int n) {
#if defined(SIMT_TSAN)
  int n_sets = 2;
#else
  int n_sets = 1;
#endif
  for (; n_made < n; n_made++)
    for (int set = 0; set < n_sets; set++) fiber_make(&lanes[set][n_made].fiber, live, (unsigned)n_made);
}

/* ---- blocks ---- */

static void begin_lanes(const dim3 &size) {
  n_live = n_lanes;
  n_at_block = n_predicates = n_ready = 0;
  for (int k = 0; k < (n_lanes + 31) / 32; k++) {
    int left = n_lanes - 32 * k;
    warp[k].exist = left >= 32 ? ~0u : (1u << left) - 1;
    warp[k].done = warp[k].waiting = 0;
  }
  for (int k = 0; k < n_lanes; k++) {
    unsigned i = (unsigned)(settings.order == SIMT_REVERSE ? k : n_lanes - 1 - k);
    Lane *l = &lane[i];
    l->number = i;
    l->lane = i & 31u;
    l->warp = &warp[i >> 5];
    l->id = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    make_ready(l);
  }
}

/* All that wait, lane by lane of the same kind together. */
static void deadlock() {
  const Lane *last = nullptr;
  for (int i = 0; i < n_lanes; i++) {
    const Lane *l = &lane[i];
    if (l->state == DONE) continue;
    bool same = last && last->warp == l->warp && last->state == l->state && last->line == l->line &&
                (l->state == AT_BLOCK || last->mask == l->mask);
    last = l;
    if (same) continue;
    fprintf(stderr, "simt: thread %d ... waits for %s at %s:%d", i, l->state == AT_BLOCK ? "the block" : "lanes",
            l->file, l->line);
    if (l->state == AT_WARP) fprintf(stderr, ", mask %08x", l->mask);
    fprintf(stderr, "\n");
  }
  die("a deadlock: all threads that have not ended wait", running->place.file, running->place.line);
}

static void run_block() {
  block.serial++;
#if defined(SIMT_TSAN)
  lane = lanes[block.serial & 1];
  warp = warps[block.serial & 1];
#else
  lane = lanes[0];
  warp = warps[0];
#endif
  shared_begin(running->shared, shared_limit_of(running->kernel));
  release(&tag_begin);
  begin_lanes(running->threads);
  next_turn(nullptr);
  if (n_live > 0) deadlock();
  shared_end();
  counts.blocks++;
}

/* Blocks in order, from the last to the first, or from a random one round. */
void run_grid(const Launch &launch, void (*body)(void *), void *args) {
  dim3 g = launch.grid;
  uint64_t n_blocks = (uint64_t)g.x * g.y * g.z, first = settings.order == SIMT_RANDOM ? random64() % n_blocks : 0;
  if (settings.trace)
    fprintf(stderr, "simt: %s <<<%u,%u,%u  %u,%u,%u  %zu>>>\n", launch.place.name, g.x, g.y, g.z, launch.threads.x,
            launch.threads.y, launch.threads.z, launch.shared);
  n_lanes = (int)(launch.threads.x * launch.threads.y * launch.threads.z);
  make_lanes(n_lanes);
  fiber_home(&home);
  preempt = settings.preempt;
  running = &launch;
  kernel_body = body;
  kernel_args = args;
  block.grid = g;
  block.threads = launch.threads;
  for (uint64_t k = 0; k < n_blocks; k++) {
    uint64_t b = settings.order == SIMT_REVERSE ? n_blocks - 1 - k : (k + first) % n_blocks;
    block.id = {(unsigned)(b % g.x), (unsigned)(b / g.x % g.y), (unsigned)(b / g.x / g.y)};
    run_block();
  }
  acquire(&tag_end);
  check_guards(launch.place);
  running = nullptr;
  counts.kernels++;
}

} // namespace simt
