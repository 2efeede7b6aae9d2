/* The phases by which gbt_trainer_seconds() counts the seconds of a training. */
#ifndef GBT_BACKEND_PHASES_H
#define GBT_BACKEND_PHASES_H

/* X(name, text): in the order of a tree. On a device all of a tree counts as its last phase, the leaves. */
#define GBT_PHASES(X)          \
  X(GRADIENT, "gradients")     \
  X(HIST, "histograms")        \
  X(SPLIT, "splits")           \
  X(PARTITION, "partition")    \
  X(LEAF, "leaves")            \
  X(METRIC, "metrics")

#define GBT_PHASE_ENTRY(name, text) GBT_PHASE_##name,
typedef enum gbt_phase { GBT_PHASES(GBT_PHASE_ENTRY) GBT_N_PHASES } gbt_phase;
#undef GBT_PHASE_ENTRY

#endif
