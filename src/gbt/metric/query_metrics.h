/* Ranking metrics, query by query. Rows of equal score have no order: a metric is its mean over all orders of them
 * (McSherry and Najork, "Computing information retrieval performance measures efficiently in the presence of tied
 * scores", ECIR 2008). So it does not depend on the order of the data.
 *
 * The rows of a query come as blocks of equal score, scores falling, the rows of a block by label ascending:
 *
 *   label:  y y y | y y | y ...     end of block:  3, 5, 6, ...
 *
 * A block of m rows, r of them relevant (label above 0), begins after n0 rows. k: only the first k places count; 0:
 * all.
 * A metric that is not defined for a query, as NDCG where no row has a gain, is NaN, and the query is left out. */
#ifndef GBT_METRIC_QUERY_METRICS_H
#define GBT_METRIC_QUERY_METRICS_H

#include "../base/parallel.h"
#include "../math/elementary.h"
#include "metric.h"
#include "terms.h"

enum { GBT_QUERY_STEPS = 1 << 20 }; /* of a loop between two looks whether to stop */

typedef struct gbt_query_rows {
  uint32_t n, n_blocks;
  const double *label;    /* n, see above */
  const uint32_t *end;    /* n_blocks: the place after the last row of each block */
  const double *discount; /* of n places at least: 1 / log2(place + 2) */
  const double *ideal;    /* n: labels falling */
  const double *gain, *ideal_gain; /* n each: gains of these labels; gains do not fall as labels rise */
  double top_label;       /* the largest label of the data set */
  uint64_t *count;        /* scratch of n + 1 */
  double *chance;         /* scratch of n + 1 */
  gbt_ctx *ctx;           /* asked by long loops whether to stop; a value is then of no use */
  int thread;
} gbt_query_rows;

GBT_FN uint32_t gbt_query_places(const gbt_query_rows *q, double k) {
  return k > 0.0 && k < (double)q->n ? (uint32_t)k : q->n;
}

GBT_FN uint32_t gbt_query_begin(const gbt_query_rows *q, uint32_t block) { return block > 0 ? q->end[block - 1] : 0; }

/* Relevant rows among places [beg, end). */
GBT_FN double gbt_query_relevant(const gbt_query_rows *q, uint32_t beg, uint32_t end) {
  double n = 0.0;
  for (uint32_t i = beg; i < end; i++) n += q->label[i] > 0.0;
  return n;
}

/* 2^label - 1; labels need not be whole. */
GBT_FN double gbt_query_gain(double label) {
  if (label == (double)(int)label && label >= 0.0 && label <= 52.0)
    return (double)(((uint64_t)1 << (int)label) - 1);
  return gbt_expm1(label * 0.69314718055994531);
}

GBT_FN double gbt_query_dcg(const gbt_query_rows *q, double k) {
  const uint32_t last = gbt_query_places(q, k);
  double sum = 0.0;
  for (uint32_t b = 0; b < q->n_blocks && gbt_query_begin(q, b) < last; b++) {
    const uint32_t beg = gbt_query_begin(q, b), end = q->end[b];
    double gain = 0.0, weight = 0.0;
    for (uint32_t i = beg; i < end; i++) gain += q->gain[i];
    for (uint32_t i = beg; i < end && i < last; i++) weight += q->discount[i];
    sum += gain / (double)(end - beg) * weight;
  }
  return sum;
}

GBT_FN double gbt_query_ndcg(const gbt_query_rows *q, double k) {
  const uint32_t last = gbt_query_places(q, k);
  double ideal = 0.0;
  for (uint32_t i = 0; i < last; i++) ideal += q->ideal_gain[i] * q->discount[i];
  return ideal > 0.0 ? gbt_query_dcg(q, k) / ideal : gbt_nan();
}

/* Relevant rows in the first places, by expectation. */
GBT_FN double gbt_query_hits(const gbt_query_rows *q, uint32_t last) {
  double hits = 0.0;
  for (uint32_t b = 0; b < q->n_blocks && gbt_query_begin(q, b) < last; b++) {
    const uint32_t beg = gbt_query_begin(q, b), end = q->end[b];
    const double r = gbt_query_relevant(q, beg, end);
    hits += end <= last ? r : r * (double)(last - beg) / (double)(end - beg);
  }
  return hits;
}

/* Of k places, also where the query has fewer rows. */
GBT_FN double gbt_query_precision(const gbt_query_rows *q, double k) {
  return gbt_query_hits(q, gbt_query_places(q, k)) / (k > 0.0 ? k : (double)q->n);
}

GBT_FN double gbt_query_recall(const gbt_query_rows *q, double k) {
  const double all = gbt_query_relevant(q, 0, q->n);
  return all > 0.0 ? gbt_query_hits(q, gbt_query_places(q, k)) / all : gbt_nan();
}

/* Average precision. At place j = 1 .. m of a block a row is relevant with probability r / m, and then (j - 1) (r - 1)
 * / (m - 1) of those before it in the block are. */
GBT_FN double gbt_query_map(const gbt_query_rows *q, double k) {
  const uint32_t last = gbt_query_places(q, k);
  const double all = gbt_query_relevant(q, 0, q->n);
  double sum = 0.0, before = 0.0;
  if (!(all > 0.0)) return gbt_nan();
  for (uint32_t b = 0; b < q->n_blocks && gbt_query_begin(q, b) < last; b++) {
    const uint32_t beg = gbt_query_begin(q, b), end = q->end[b];
    const double m = (double)(end - beg), r = gbt_query_relevant(q, beg, end);
    const double more = end - beg > 1 ? (r - 1.0) / (m - 1.0) : 0.0;
    for (uint32_t i = beg; i < end && i < last; i++)
      sum += r / m * (before + 1.0 + (double)(i - beg) * more) / ((double)i + 1.0);
    before += r;
  }
  return sum / (all < (double)last ? all : (double)last);
}

/* One over the place of the first relevant row. */
GBT_FN double gbt_query_mrr(const gbt_query_rows *q, double k) {
  const uint32_t last = gbt_query_places(q, k);
  if (!(gbt_query_relevant(q, 0, q->n) > 0.0)) return gbt_nan();
  for (uint32_t b = 0; b < q->n_blocks && gbt_query_begin(q, b) < last; b++) {
    const uint32_t beg = gbt_query_begin(q, b), end = q->end[b], m = end - beg;
    const double r = gbt_query_relevant(q, beg, end);
    if (!(r > 0.0)) continue;
    double sum = 0.0, p = r / (double)m; /* that the first one is at place j */
    for (uint32_t j = 1; j <= m && beg + j <= last && p > 0.0; j++) {
      sum += p / ((double)beg + (double)j);
      p = j < m ? p * ((double)m - (double)j - r + 1.0) / ((double)m - (double)j) : 0.0;
    }
    return sum;
  }
  return 0.0; /* it is at a later place */
}

/* Expected reciprocal rank (Chapelle et al., CIKM 2009): a reader stops at a row with probability (2^label - 1) /
 * 2^top. E_j of a block: the mean probability over all choices of j of its rows that a reader passes all of them. */
GBT_FN double gbt_query_err(const gbt_query_rows *q, double k) {
  const uint32_t last = gbt_query_places(q, k);
  const double most = gbt_query_gain(q->top_label) + 1.0;
  double sum = 0.0, passed = 1.0;
  for (uint32_t b = 0; b < q->n_blocks && gbt_query_begin(q, b) < last; b++) {
    const uint32_t beg = gbt_query_begin(q, b), end = q->end[b], m = end - beg;
    const uint32_t deep = end <= last ? m : last - beg;
    double all = 1.0, *E = q->chance;
    E[0] = 1.0;
    for (uint32_t j = 1; j <= deep; j++) E[j] = 0.0;
    for (uint32_t i = 1, steps = 0; i <= m; i++) {
      steps += i < deep ? i : deep;
      if (steps > GBT_QUERY_STEPS) {
        if (gbt_ctx_stopped(q->ctx, q->thread)) return 0.0;
        steps = 0;
      }
      const double pass = 1.0 - gbt_query_gain(q->label[beg + i - 1]) / most;
      all *= pass;
      for (uint32_t j = i < deep ? i : deep; j >= 1; j--) {
        const double share = (double)j / (double)i;
        E[j] = (1.0 - share) * E[j] + share * pass * E[j - 1];
      }
    }
    for (uint32_t j = 1; j <= deep; j++) sum += passed * (E[j - 1] - E[j]) / ((double)beg + (double)j);
    passed *= all;
  }
  return sum;
}

/* Pairs of rows with a relevant and another row: the share that is in order, equal scores counting half. */
GBT_FN double gbt_query_group_auc(const gbt_query_rows *q, double k) {
  uint64_t right = 0, tied = 0, others = 0, relevant = 0; /* rows of higher scores that are relevant */
  (void)k;
  for (uint32_t b = 0; b < q->n_blocks; b++) {
    const uint32_t beg = gbt_query_begin(q, b), end = q->end[b];
    const uint64_t r = (uint64_t)gbt_query_relevant(q, beg, end), rest = end - beg - r;
    right += relevant * rest;
    tied += r * rest;
    relevant += r;
    others += rest;
  }
  const double pairs = (double)relevant * (double)others;
  return pairs > 0.0 ? ((double)right + 0.5 * (double)tied) / pairs : gbt_nan();
}

/* The number of the label among those of the query, from 1: the first place of it in `ideal`, from the end. */
GBT_FN uint32_t gbt_query_label_number(const gbt_query_rows *q, double label) {
  uint32_t beg = 0, end = q->n; /* ideal falls: the first place whose label is at most this */
  while (beg < end) {
    const uint32_t mid = beg + (end - beg) / 2;
    if (q->ideal[mid] > label)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg + 1;
}

/* Pairs of rows of different labels: the share that is in order, equal scores counting half. Rows come by falling
 * score; a tree of counts (Fenwick 1994) by label gives the number of rows with higher scores that have higher labels.
 * */
GBT_FN double gbt_query_pair_accuracy(const gbt_query_rows *q, double k) {
  uint64_t right = 0, tied = 0, pairs = 0;
  (void)k;
  for (uint32_t i = 0; i <= q->n; i++) q->count[i] = 0;
  for (uint32_t i = 0, same; i < q->n; i += same) { /* of all rows */
    for (same = 1; i + same < q->n && q->ideal[i + same] == q->ideal[i];) same++;
    pairs += (uint64_t)i * same;
  }
  for (uint32_t b = 0; b < q->n_blocks; b++) {
    const uint32_t beg = gbt_query_begin(q, b), end = q->end[b];
    for (uint32_t i = beg, same; i < end; i += same) {
      for (same = 1; i + same < end && q->label[i + same] == q->label[i];) same++;
      tied += (uint64_t)(i - beg) * same;
      uint64_t above = 0;
      for (uint32_t at = gbt_query_label_number(q, q->label[i]) - 1; at > 0; at -= at & (0u - at))
        above += q->count[at];
      right += above * same;
    }
    for (uint32_t i = beg; i < end; i++)
      for (uint32_t at = gbt_query_label_number(q, q->label[i]); at <= q->n; at += at & (0u - at)) q->count[at]++;
  }
  return pairs > 0 ? ((double)right + 0.5 * (double)tied) / (double)pairs : gbt_nan();
}

/* Any of them. */
GBT_FN double gbt_query_metric(const gbt_metric *metric, const gbt_query_rows *q) {
#define QUERY_NONE(ID, name)
#define QUERY_RESPONSE QUERY_NONE
#define QUERY_PROBABILITY QUERY_NONE
#define QUERY_SCORE QUERY_NONE
#define QUERY_LOGLOSS QUERY_NONE
#define QUERY_CLASSES QUERY_NONE
#define QUERY_CONFUSION QUERY_NONE
#define QUERY_BINS QUERY_NONE
#define QUERY_VARIANCE QUERY_NONE
#define QUERY_RANKING QUERY_NONE
#define QUERY_RISK QUERY_NONE
#define QUERY_DISTRIBUTION QUERY_NONE
#define QUERY_CENSORED QUERY_NONE
#define QUERY_QUERY(ID, name) case GBT_METRIC_##ID: return gbt_query_##name(q, metric->param);
  switch (metric->kind) {
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) QUERY_##form(ID, name)
#include "metrics.def"
#undef GBT_METRIC
  }
#undef QUERY_NONE
#undef QUERY_RESPONSE
#undef QUERY_PROBABILITY
#undef QUERY_SCORE
#undef QUERY_LOGLOSS
#undef QUERY_CLASSES
#undef QUERY_CONFUSION
#undef QUERY_BINS
#undef QUERY_VARIANCE
#undef QUERY_RANKING
#undef QUERY_RISK
#undef QUERY_DISTRIBUTION
#undef QUERY_CENSORED
#undef QUERY_QUERY
  return gbt_nan();
}

#endif
