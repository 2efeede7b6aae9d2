/* Parameters by name, and early stopping. */
#include "test.h"

#include "../../src/gbt/boost/stopper.h"
#include "../../src/gbt/math/sampling.h"
#include "../../src/gbt/params.h"

static void table_is_sound(void) {
  int n;
  const gbt_param_info *info = gbt_params_table(&n);
  gbt_params params = gbt_params_default();
  CHECK(n >= 20);
  CHECK_OK(gbt_params_check(&params, test_err));
  for (int i = 0; i < n; i++) {
    CHECK(info[i].name[0] != 0 && info[i].text[0] != 0 && info[i].low <= info[i].def && info[i].def <= info[i].high);
    CHECK_EQ_BITS(gbt_params_get(&params, info[i].name), info[i].def);
    for (int k = 0; k < i; k++) CHECK(strcmp(info[i].name, info[k].name) != 0);
    int bars = 0;
    for (const char *s = info[i].choices; s != NULL && *s; s++) bars += *s == '|';
    CHECK_EQ_I64(info[i].kind == GBT_PARAM_ENUM, info[i].choices != NULL);
    if (info[i].kind == GBT_PARAM_ENUM) CHECK(info[i].low == 0.0 && info[i].high == bars);
  }
  CHECK_EQ_BITS(params.eta, 0.1);
  CHECK_EQ_I64(params.max_depth, 6);
  CHECK_EQ_I64(params.grow_policy, GBT_DEPTHWISE);
}

/* Every parameter takes its bounds (where they are allowed) and nothing beyond; setting one leaves the others alone. */
static void ranges_hold(void) {
  int n;
  const gbt_param_info *info = gbt_params_table(&n);
  for (int i = 0; i < n; i++) {
    double step = info[i].kind == GBT_PARAM_REAL ? 1e-9 : 1.0;
    double tries[] = {info[i].low,        info[i].high, info[i].low - step, info[i].high * (1 + 1e-9) + step,
                      info[i].low + step, NAN,          INFINITY,           -INFINITY,
                      info[i].low + 0.5};
    for (int k = 0; k < 9; k++) {
      double x = tries[k];
      int ok = info[i].open_low ? x > info[i].low : x >= info[i].low;
      ok = ok && (info[i].open_high ? x < info[i].high : x <= info[i].high);
      ok = ok && (info[i].kind == GBT_PARAM_REAL || floor(x) == x);
      gbt_params params = gbt_params_default(), before = params;
      gbt_error err;
      gbt_status status = gbt_params_set(&params, info[i].name, x, &err);
      CHECK_EQ_I64(status, ok ? GBT_OK : GBT_E_ARG);
      if (!ok) {
        CHECK_EQ_BYTES(&params, &before, sizeof params);
        CHECK_EQ_TEXT(err.subject, info[i].name);
        CHECK(strstr(err.msg, info[i].name) != NULL);
        continue;
      }
      for (int j = 0; j < n; j++) CHECK_EQ_BITS(gbt_params_get(&params, info[j].name), j == i ? x : info[j].def);
    }
  }
}

static void messages_help(void) {
  gbt_params params = gbt_params_default();
  gbt_error err;
  CHECK_EQ_I64(gbt_params_set(&params, "eta", 2.0, &err), GBT_E_ARG);
  CHECK_EQ_TEXT(err.msg, "`eta` is 2; it must be above 0 and at most 1");
  CHECK_EQ_I64(gbt_params_set(&params, "lambda", -1.0, &err), GBT_E_ARG);
  CHECK_EQ_TEXT(err.msg, "`lambda` is -1; it must be at least 0");
  CHECK_EQ_I64(gbt_params_set(&params, "max_depth", 2.5, &err), GBT_E_ARG);
  CHECK_EQ_TEXT(err.msg, "`max_depth` is 2.5; it must be a whole number from 0 to 64");
  CHECK_EQ_I64(gbt_params_set(&params, "grow_policy", 3.0, &err), GBT_E_ARG);
  CHECK_EQ_TEXT(err.msg, "`grow_policy` has no choice number 3; the choices are depthwise|lossguide|symmetric");
  CHECK_EQ_I64(gbt_params_set(&params, "max_dept", 2.0, &err), GBT_E_ARG);
  CHECK_EQ_TEXT(err.msg, "unknown parameter `max_dept`; did you mean `max_depth`?");
  CHECK_EQ_I64(gbt_params_set(&params, "subsampel", 0.5, &err), GBT_E_ARG);
  CHECK_EQ_TEXT(err.msg, "unknown parameter `subsampel`; did you mean `subsample`?");
  static const char *const slips[][2] = {{"ta", "eta"},
                                         {"gama", "gamma"},
                                         {"xlambda", "lambda"},
                                         {"mindatainleaf", "min_data_in_leaf"},
                                         {"num_parallel_trees", "num_parallel_tree"},
                                         {"colsample_by_nodes", "colsample_bynode"}};
  for (int i = 0; i < 6; i++) {
    CHECK_EQ_I64(gbt_params_set(&params, slips[i][0], 0.5, &err), GBT_E_ARG);
    char want[100];
    snprintf(want, sizeof want, "unknown parameter `%s`; did you mean `%s`?", slips[i][0], slips[i][1]);
    CHECK_EQ_TEXT(err.msg, want);
  }
  CHECK_EQ_I64(gbt_params_set(&params, "colour", 0.5, &err), GBT_E_ARG);
  CHECK_EQ_TEXT(err.msg, "unknown parameter `colour`");
  CHECK_EQ_TEXT(err.subject, "colour");
  CHECK_FAILS(gbt_params_set(&params, "", 1.0, test_err), GBT_E_ARG, "unknown parameter ``");
  CHECK_FAILS(gbt_params_set(&params, "a_name_that_is_longer_than_any_parameter_could_be", 1.0, test_err), GBT_E_ARG,
              "unknown parameter");
  CHECK(isnan(gbt_params_get(&params, "colour")));
}

static void checks_see_hand_made_structs(void) {
  gbt_params params = gbt_params_default();
  params.eta = NAN;
  CHECK_FAILS(gbt_params_check(&params, test_err), GBT_E_ARG, "`eta`");
  params = gbt_params_default();
  params.seed = INT64_MAX;
  CHECK_FAILS(gbt_params_check(&params, test_err), GBT_E_ARG, "`seed`");
  params = gbt_params_default();
  params.grow_policy = -1;
  CHECK_FAILS(gbt_params_check(&params, test_err), GBT_E_ARG, "`grow_policy`");
  for (int policy = GBT_DEPTHWISE; policy <= GBT_LOSSGUIDE; policy++) {
    params = gbt_params_default();
    params.grow_policy = policy;
    params.max_depth = 0;
    CHECK_FAILS(gbt_params_check(&params, test_err), GBT_E_ARG, "`max_depth` and `max_leaves`");
    params.max_leaves = 31;
    CHECK_OK(gbt_params_check(&params, test_err));
  }
  params = gbt_params_default();
  params.grow_policy = GBT_SYMMETRIC;
  CHECK_OK(gbt_params_check(&params, test_err));
  params.max_depth = 16;
  params.max_leaves = 5;
  CHECK_OK(gbt_params_check(&params, test_err));
  gbt_error err;
  for (int64_t depth = 0; depth <= 17; depth += 17) {
    params.max_depth = depth;
    CHECK_EQ_I64(gbt_params_check(&params, &err), GBT_E_ARG);
    CHECK(strstr(err.msg, "from 1 to 16") != NULL);
    CHECK_EQ_TEXT(err.subject, "max_depth");
  }
  params.max_depth = 6;
  params.colsample_bynode = 0.5;
  CHECK_EQ_I64(gbt_params_check(&params, &err), GBT_E_ARG);
  CHECK(strstr(err.msg, "use `colsample_bylevel`") != NULL);
  CHECK_EQ_TEXT(err.subject, "colsample_bynode");
}

/* Each of them at every choice of the parameter that it goes with. */
static void parameters_of_one_choice_are_refused_with_others(void) {
  static const struct {
    const char *name, *of;
    int choice, n_choices;
    double value;
  } cases[] = {
    {"top_rate", "sampling_method", GBT_SAMPLE_GOSS, 4, 0.3},
    {"other_rate", "sampling_method", GBT_SAMPLE_GOSS, 4, 0.3},
    {"mvs_reg", "sampling_method", GBT_SAMPLE_MVS, 4, 1.0},
    {"bagging_temperature", "sampling_method", GBT_SAMPLE_BAYESIAN, 4, 0.0},
    {"linear_lambda", "leaf_model", GBT_LEAF_LINEAR, 2, 1.0},
    {"sketch", "multi_strategy", 1, 2, GBT_SKETCH_NONE},
  };
  gbt_error err;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int choice = 0; choice < cases[i].n_choices; choice++) {
      gbt_params params = gbt_params_default();
      CHECK_OK(gbt_params_set(&params, cases[i].of, choice, test_err));
      CHECK_OK(gbt_params_check(&params, test_err));
      CHECK_OK(gbt_params_set(&params, cases[i].name, cases[i].value, test_err));
      if (choice == cases[i].choice) {
        CHECK_OK(gbt_params_check(&params, test_err));
        continue;
      }
      CHECK_EQ_I64(gbt_params_check(&params, &err), GBT_E_ARG);
      CHECK_EQ_TEXT(err.subject, cases[i].name);
      CHECK(strstr(err.msg, cases[i].of) != NULL);
    }
}

/* The twin: look back over the whole series after every value. */
static int naive_stop(const double *x, int64_t n, int64_t patience, double min_delta, int maximise, int64_t *best) {
  double top = NAN;
  *best = 0;
  for (int64_t i = 0; i < n; i++) {
    double v = maximise ? x[i] : -x[i];
    if (isnan(v)) continue;
    if (*best == 0 || v - top > min_delta) top = v, *best = i + 1;
  }
  return patience > 0 && n - *best >= patience;
}

static void stopper_stops_where_the_series_says(void) {
  test_rng rng = {51};
  for (int i = 0; i < 3000; i++) {
    double x[40], min_delta = i % 3 ? 0.0 : 0.25;
    int64_t patience = test_below(&rng, 6);
    int maximise = i % 2;
    gbt_stopper stopper;
    gbt_stopper_start(&stopper, patience, min_delta, maximise);
    CHECK(stopper.best_round == 0 && isnan(stopper.best));
    for (int64_t n = 1; n <= 40; n++) {
      x[n - 1] = (double)test_below(&rng, 9) * 0.125 + (double)n * (maximise ? 0.02 : -0.02);
      if (test_below(&rng, 10) == 0) x[n - 1] = NAN;
      int64_t best;
      int stop = naive_stop(x, n, patience, min_delta, maximise, &best);
      CHECK_EQ_I64(gbt_stopper_update(&stopper, n, x[n - 1]), stop);
      CHECK_EQ_I64(stopper.best_round, best);
      if (best > 0) CHECK_EQ_BITS(stopper.best, x[best - 1]);
      if (stop) break;
    }
  }
}

void suite_params(void) {
  RUN(table_is_sound);
  RUN(ranges_hold);
  RUN(messages_help);
  RUN(checks_see_hand_made_structs);
  RUN(parameters_of_one_choice_are_refused_with_others);
  RUN(stopper_stops_where_the_series_says);
}
