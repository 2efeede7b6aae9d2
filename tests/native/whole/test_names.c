/* Names of values of enums: those that hosts rely on, and none for numbers that are no value. */
#include "../../src/gbt/backend/device.h"
#include "../../src/gbt/boost/trainer.h"
#include "../../src/gbt/data/dataset.h"
#include "../../src/gbt/metric/metric.h"
#include "../../src/gbt/model/answer.h"
#include "test.h"

/* name: a function from a value to its name; want: n names of low, low + 1, ... */
static void check_names(const char *(*name)(int), int low, const char *const *want, int n) {
  for (int i = low - 3; i < low + n + 3; i++) CHECK_EQ_TEXT(name(i), i >= low && i < low + n ? want[i - low] : NULL);
  CHECK(name(INT32_MAX) == NULL && name(INT32_MIN) == NULL);
}

#define NAMES(name, low, ...)                                          \
  do {                                                                 \
    static const char *const want[] = {__VA_ARGS__};                   \
    check_names(name, low, want, (int)(sizeof want / sizeof want[0])); \
  } while (0)

static void names_of_the_base(void) {
  NAMES(gbt_status_name, GBT_OK, "ok", "argument", "data", "memory", "device", "format", "io", "unsupported",
        "internal", "cancelled");
#if defined(__aarch64__)
  NAMES(gbt_simd_name, GBT_SIMD_AUTO, "auto", "scalar", "neon", "avx512", "avx512vbmi");
#else
  NAMES(gbt_simd_name, GBT_SIMD_AUTO, "auto", "scalar", "avx2", "avx512", "avx512vbmi");
#endif
}

static void names_of_data(void) {
  NAMES(gbt_feature_type_name, GBT_NUMERIC, "numeric", "categorical", "ordinal");
  NAMES(gbt_feature_kind_name, GBT_FEATURE_COLUMN, "column", "level_count", "target_mean", "target_class", "key_count");
  NAMES(gbt_storage_name, GBT_F64, "double", "integer", "integer64", "codes");
  NAMES(gbt_unseen_name, GBT_UNSEEN_PRIOR, "prior", "missing", "error");
  NAMES(gbt_field_name, GBT_LABEL, "label", "weights", "offset", "time", "group", "event", "entry", "stratum",
        "upper", "position", "gain");
  NAMES(gbt_cat_method_name, 0, "sets", "onehot", "target", "count", "quartiles");
}

static void names_of_training_and_prediction(void) {
  NAMES(gbt_stop_reason_name, GBT_RUN_DONE, "done", "early", "time");
  NAMES(gbt_response_name, GBT_RESPONSE_NUMBER, "number", "mean", "probability", "classes", "time",
        "hazard", "intervals", "distribution", "own");
  NAMES(gbt_answer_name, GBT_ANSWER_LINK, "link", "response", "class", "leaf");
  NAMES(gbt_device_work_name, GBT_WORK_TRAIN, "train", "data", "scores", "leaves",
        "contributions");
}

void suite_names(void) {
  RUN(names_of_the_base);
  RUN(names_of_data);
  RUN(names_of_training_and_prediction);
}
