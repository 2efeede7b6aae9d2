/* Threads, warps, blocks, grids.
 *
 *   room                  what a resident block has: lanes, warps, shared memory
 *   lane[number]          the block's threads; a lane is RUNNING, READY, AT_BLOCK, AT_WARP, ASLEEP or DONE
 *   warp[number / 32]     which of its lanes exist, have ended, wait in a collective
 *   ready                 lanes of all rooms that may run; the last one goes first, or with random order any
 *   asleep                those that called __nanosleep: they look again when nobody else is ready
 *
 * A lane runs until it waits; then it finds out whether that was what others have waited for, and the next ready lane
 * runs. When no lane is ready, or a block has ended, the host's stack runs: it begins the next block, wakes those that
 * sleep, or finds that the grid will never end.
 *
 * One block is resident at a time, unless the launch is cooperative (all are) or SIMT_RESIDENT asks for more. For the
 * thread sanitizer there are at least two rooms that blocks take in turns, so that threads of different blocks are
 * different threads to it. Nothing orders them but the beginning and the end of the grid, atomics and fences. */
#include "internal.h"

#include <cstdio>
#include <unistd.h>
#include <vector>

#include "fiber.h"

namespace simt {

Thread *now;
Block block;
unsigned preempt;

enum State : uint8_t { READY, AT_BLOCK, AT_WARP, ASLEEP, DONE };
enum { MOST_ROUNDS = 1000 /* of sleeping lanes that find nothing */, EARLY = 64 /* one in so many turns wakes one */ };

struct Room;

struct Warp {
  unsigned exist, done, waiting; /* lanes */
  char tag;
};

struct Lane : Thread {
  Fiber fiber;
  Room *room;
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

struct Room {
  Lane lane[MOST_THREADS];
  Warp warp[MOST_THREADS / 32];
  Block block;
  Memory *memory;
  int n_made, n_live, n_at_block, n_predicates;
  unsigned phase; /* of the block's barrier */
  uint64_t ended; /* when, counted in blocks */
  char tag[2];
};

static std::vector<Room *> &rooms = *new std::vector<Room *>(); /* as long as any thread runs */
static std::vector<Lane *> ready, asleep;
static Room *room; /* of the lane that runs */
static int n_lanes;
static bool ended;         /* a block has, and the host is to see to it */
static unsigned n_in_vain; /* rounds in which all that were awake went to sleep again */
static Fiber home;
static const Launch *running;
static void (*kernel_body)(void *);
static void *kernel_args;
static char tag_begin, tag_end, tag_fence;

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
  ready.push_back(l);
}

static void enter(Room *r) {
  if (r == room) return;
  room = r;
  block = r->block;
  shared_enter(r->memory);
}

/* The last one of the list, or with random order any. */
static Lane *take_one(std::vector<Lane *> *list) {
  size_t at = list->size() - 1;
  if (settings.order == SIMT_RANDOM) at = (size_t)(random64() % list->size());
  Lane *l = (*list)[at];
  (*list)[at] = list->back();
  list->pop_back();
  return l;
}

static void next_turn(Lane *from) {
  Fiber *source = from ? &from->fiber : &home;
  if (ready.empty() || ended) {
    now = nullptr;
    if (source != &home) fiber_switch(source, &home);
    return;
  }
  if (settings.order == SIMT_RANDOM && !asleep.empty() && random64() % EARLY == 0) make_ready(take_one(&asleep));
  Lane *to = take_one(&ready);
  now = to;
  enter(to->room);
  if (to != from) fiber_switch(source, &to->fiber);
}

void sleep(const char *file, int line) {
  Lane *l = self();
  l->file = file;
  l->line = line;
  l->state = ASLEEP;
  asleep.push_back(l);
  next_turn(l);
}

void give_way() {
  if (!now || random64() % preempt != 0) return;
  Lane *l = self();
  make_ready(l);
  next_turn(l);
}

/* The thread sanitizer knows no fences: to it all of them are in one order. */
void fence() {
  __sync_synchronize();
  release(&tag_fence);
  acquire(&tag_fence);
}

/* ---- the barrier of the block ---- */

static void release_block(Room *r) {
  if (r->n_at_block == 0 || r->n_at_block < r->n_live) return;
  const Lane *first = nullptr;
  for (int k = 0; k < n_lanes; k++) {
    Lane *l = &r->lane[settings.order == SIMT_REVERSE ? k : n_lanes - 1 - k];
    if (l->state != AT_BLOCK) continue;
    if (!first) first = l;
    if (l->line != first->line || strcmp(l->file, first->file) != 0) {
      fprintf(stderr, "simt: thread %u waits at line %d, thread %u at line %d\n", first->number, first->line, l->number,
              l->line);
      die("__syncthreads in divergent code", l->file, l->line);
    }
    l->out = (uint64_t)r->n_predicates;
    make_ready(l);
  }
  r->n_predicates = r->n_at_block = 0;
  r->phase++;
  n_in_vain = 0;
}

int wait_block(bool predicate, const char *file, int line) {
  Lane *l = self();
  Room *r = l->room;
  char *tag = &r->tag[r->phase & 1];
  l->file = file;
  l->line = line;
  l->state = AT_BLOCK;
  r->n_at_block++;
  r->n_predicates += predicate;
  release(tag);
  release_block(r);
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
  n_in_vain = 0;
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
  Lane *first = room->lane + (w - room->warp) * 32;
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
  Lane *first = l->room->lane + (w - l->room->warp) * 32;
  if (all_came(w, first, l, &who)) complete(w, first, who);
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
    l->room->n_live--;
    n_in_vain = 0;
    l->warp->done |= 1u << l->lane;
    release_warp(l->warp);
    release_block(l->room);
    ended = l->room->n_live == 0;
    next_turn(l);
  }
}

static void make_rooms(size_t n) {
  while (rooms.size() < n) {
    rooms.push_back(new Room());
    rooms.back()->memory = shared_new();
  }
  for (size_t k = 0; k < n; k++)
    for (Room *r = rooms[k]; r->n_made < n_lanes; r->n_made++)
      fiber_make(&r->lane[r->n_made].fiber, live, (unsigned)r->n_made);
}

/* ---- blocks ---- */

static void begin_lanes(Room *r, const dim3 &size) {
  r->n_live = n_lanes;
  r->n_at_block = r->n_predicates = 0;
  for (int k = 0; k < (n_lanes + 31) / 32; k++) {
    int left = n_lanes - 32 * k;
    r->warp[k].exist = left >= 32 ? ~0u : (1u << left) - 1;
    r->warp[k].done = r->warp[k].waiting = 0;
  }
  for (int k = 0; k < n_lanes; k++) {
    unsigned i = (unsigned)(settings.order == SIMT_REVERSE ? k : n_lanes - 1 - k);
    Lane *l = &r->lane[i];
    l->room = r;
    l->number = i;
    l->lane = i & 31u;
    l->warp = &r->warp[i >> 5];
    l->id = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    make_ready(l);
  }
}

static const char *waits_for(State state) {
  return state == AT_BLOCK ? "the block" : state == ASLEEP ? "others, asleep," : "lanes";
}

/* All that wait, lane by lane of the same kind together. */
static void deadlock(size_t n_rooms) {
  const Lane *last = nullptr;
  for (size_t k = 0; k < n_rooms; k++)
    for (int i = 0; i < n_lanes && rooms[k]->n_live > 0; i++) {
      const Lane *l = &rooms[k]->lane[i];
      if (l->state == DONE) continue;
      bool same = last && last->warp == l->warp && last->state == l->state && last->line == l->line &&
                  (l->state != AT_WARP || last->mask == l->mask);
      last = l;
      if (same) continue;
      const Block &its = rooms[k]->block;
      fprintf(stderr, "simt: block %u,%u,%u, thread %d ... waits for %s at %s:%d", its.id.x, its.id.y, its.id.z, i,
              waits_for(l->state), l->file, l->line);
      if (l->state == AT_WARP) fprintf(stderr, ", mask %08x", l->mask);
      fprintf(stderr, "\n");
    }
  die("a deadlock: all threads that have not ended wait", running->place.file, running->place.line);
}

static void begin_block(Room *r, uint64_t b) {
  static uint64_t serial;
  const dim3 g = running->grid;
  r->block.grid = g;
  r->block.threads = running->threads;
  r->block.id = {(unsigned)(b % g.x), (unsigned)(b / g.x % g.y), (unsigned)(b / g.x / g.y)};
  r->block.serial = ++serial;
  r->block.dynamic = shared_begin(r->memory, running->shared, shared_limit_of(running->kernel));
  room = nullptr;
  release(&tag_begin);
  begin_lanes(r, running->threads);
}

static void end_block(Room *r) {
  static uint64_t n_ended;
  shared_end(r->memory);
  r->ended = ++n_ended;
  counts.blocks++;
}

/* Of the rooms that nobody is in, the one that was left first. */
static Room *free_room(size_t n_rooms, const std::vector<Room *> &busy) {
  Room *best = nullptr;
  for (size_t k = 0; k < n_rooms; k++) {
    bool taken = false;
    for (const Room *b : busy) taken = taken || b == rooms[k];
    if (!taken && (!best || rooms[k]->ended < best->ended)) best = rooms[k];
  }
  return best;
}

static void wake_all(size_t n_rooms) {
  if (asleep.empty() || n_in_vain++ > MOST_ROUNDS) deadlock(n_rooms);
  for (Lane *l : asleep) make_ready(l);
  asleep.clear();
}

/* How many blocks of the launch are resident. */
static uint64_t residents(const Launch &l, uint64_t n_blocks) {
  if (l.cooperative) return n_blocks;
  uint64_t most = most_resident(l), asked = settings.resident;
  if (asked > most) asked = most;
  return asked < 1 ? 1 : asked < n_blocks ? asked : n_blocks;
}

/* Runs until all blocks have ended; block(k) is the number of the k-th that begins. */
template <class F> static void run_blocks(uint64_t n_blocks, size_t n_resident, size_t n_rooms, F block_of) {
  std::vector<Room *> busy;
  uint64_t begun = 0;
  while (begun < n_blocks || !busy.empty()) {
    for (; begun < n_blocks && busy.size() < n_resident; begun++) {
      Room *r = free_room(n_rooms, busy);
      busy.push_back(r);
      begin_block(r, block_of(begun));
    }
    ended = false;
    if (ready.empty()) wake_all(n_rooms);
    next_turn(nullptr);
    for (size_t k = 0; k < busy.size();) {
      if (busy[k]->n_live > 0) {
        k++;
        continue;
      }
      end_block(busy[k]);
      busy[k] = busy.back();
      busy.pop_back();
    }
  }
}

/* Blocks in order, from the last to the first, or from a random one round. */
void run_grid(const Launch &launch, void (*body)(void *), void *args) {
  dim3 g = launch.grid;
  uint64_t n_blocks = (uint64_t)g.x * g.y * g.z, first = settings.order == SIMT_RANDOM ? random64() % n_blocks : 0;
  if (settings.trace)
    fprintf(stderr, "simt: %s <<<%u,%u,%u  %u,%u,%u  %zu>>>\n", launch.place.name, g.x, g.y, g.z, launch.threads.x,
            launch.threads.y, launch.threads.z, launch.shared);
  n_lanes = (int)(launch.threads.x * launch.threads.y * launch.threads.z);
  size_t n_resident = (size_t)residents(launch, n_blocks), n_rooms = n_resident;
#if defined(SIMT_TSAN)
  if (n_rooms < 2) n_rooms = 2;
#endif
  make_rooms(n_rooms);
  ready.reserve(n_rooms * (size_t)n_lanes); /* lanes get no memory: the sanitizers would see theirs in it */
  asleep.reserve(n_rooms * (size_t)n_lanes);
  fiber_home(&home);
  preempt = settings.preempt;
  running = &launch;
  kernel_body = body;
  kernel_args = args;
  n_in_vain = 0;
  traffic_begin(launch);
  run_blocks(n_blocks, n_resident, n_rooms, [=](uint64_t k) {
    return settings.order == SIMT_REVERSE ? n_blocks - 1 - k : (k + first) % n_blocks;
  });
  acquire(&tag_end);
  check_guards(launch.place);
  running = nullptr;
  traffic_end();
  room = nullptr;
  counts.kernels++;
}

} // namespace simt
