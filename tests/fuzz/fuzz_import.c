/* Files of other programs that nobody vouches for: whatever is no model is refused in words, within memory that follows
 * from the size of the file, and the model of any other one opens and predicts. Seeds: the files of
 * ../testthat/imported, or the few that are here. */
#define _POSIX_C_SOURCE 200809L
#include "../../src/gbt/bytes/sections.h"
#include "../../src/gbt/exchange/exchange.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/model/predict.h"
#include "files.h"
#include "fuzz.h"
#include "test.h"

/* ---- a model in use ---- */

enum { ROWS = 12 };

/* Rows of all columns: numbers of many sizes, levels by their codes. */
static void predict_rows(gbt_ctx *ctx, const gbt_model *model) {
  static const double odd[ROWS] = {NAN, 0.0, -0.0, 1.0, -1.0, 0.3, 1e30, -1e30, INFINITY, -INFINITY, 1e-40, 2.5};
  const gbt_schema *schema = gbt_model_schema(model);
  const gbt_forest_view *forest = gbt_model_forest(model);
  const gbt_forest_info about = gbt_forest_about(forest);
  int32_t codes[ROWS];
  gbt_binding *binding;
  const size_t n = (size_t)schema->n_columns;
  gbt_column *cols = test_alloc(n * sizeof *cols);
  double *scores = test_alloc((size_t)about.n_outputs * ROWS * sizeof *scores);
  memset(cols, 0, n * sizeof *cols);
  for (int32_t r = 0; r < ROWS; r++) codes[r] = r % 4;
  for (size_t c = 0; c < n; c++) {
    static const char *const some[3] = {"0", "7", "not a level"};
    cols[c].name = schema->col[c].name;
    cols[c].tag = "";
    cols[c].type = schema->col[c].type;
    cols[c].storage = schema->col[c].type == GBT_NUMERIC ? GBT_F64 : GBT_CODES;
    cols[c].values = schema->col[c].type == GBT_NUMERIC ? (const void *)odd : codes;
    cols[c].n_levels = schema->col[c].type == GBT_NUMERIC ? 0 : 3;
    cols[c].levels = some;
  }
  const gbt_table table = {.n_rows = ROWS, .n_cols = schema->n_columns, .cols = cols};
  CHECK_OK(gbt_binding_new(ctx, &table, schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  const gbt_tree_range all = {0, about.n_trees};
  CHECK_OK(gbt_predict_scores(ctx, forest, binding, all, NULL, scores, test_err));
  gbt_binding_free(binding);
  free(cols);
  free(scores);
}

/* Bytes of a model for a byte of a file at most: sets of levels and outputs decide. */
enum { MOST_PER_BYTE = 4096, MOST_APART = 1 << 20 };

int fuzz_use(const uint8_t *bytes, size_t n) {
  meter m = {0, 0};
  const gbt_mem mem = meter_mem(&m);
  gbt_import_facts facts;
  uint8_t *own = test_alloc(n), *out = NULL; /* of its very size, so that the sanitizer sees what passes its end */
  size_t n_out = 0;
  gbt_model *model;
  if (n > 0) memcpy(own, bytes, n);
  test_err->msg[0] = 0;
  const gbt_status status = gbt_import(&mem, own, n, &facts, &out, &n_out, test_err);
  free(own);
  CHECK(m.peak <= MOST_APART + (size_t)MOST_PER_BYTE * n);
  if (status != GBT_OK) {
    CHECK(status == GBT_E_FORMAT || status == GBT_E_UNSUPPORTED || status == GBT_E_DATA);
    CHECK(test_err->msg[0] != 0 && out == NULL && m.live == 0);
    return 0;
  }
  CHECK_OK(gbt_model_open(&mem, out, n_out, &model, test_err));
  gbt_ctx ctx = test_ctx(NULL, 1);
  predict_rows(&ctx, model);
  gbt_ctx_close(&ctx);
  gbt_model_close(model);
  gbt_mem_free(&mem, out);
  CHECK_EQ_U64(m.live, 0);
  return 1;
}

/* ---- seeds ---- */

static const char *const seeds[] = {
    "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\n"
    "objective=binary sigmoid:2\nfeature_names=a b\nfeature_infos=[-1:2] 0:1:2\ntree_sizes=9\n\nTree=0\nnum_leaves=3\n"
    "num_cat=1\nsplit_feature=0 1\nsplit_gain=3 2\nthreshold=0.5 0\ndecision_type=10 1\nleft_child=1 -1\n"
    "right_child=-2 -3\nleaf_value=1 2 -0.5\nleaf_weight=1 2 3\nleaf_count=1 2 3\ninternal_value=1 2\n"
    "internal_weight=6 4\ninternal_count=6 4\ncat_boundaries=0 1\ncat_threshold=5\nis_linear=0\nshrinkage=1\n\n\n"
    "end of trees\n\npandas_categorical:[[\"u\",\"v\",\"w\"]]\n",
    "{\"features_info\":{\"cat_features_hash\":[{\"hash\":7,\"value\":\"u\"}],\"categorical_features\":[{"
    "\"feature_index\":0,\"flat_feature_index\":1,\"values\":[7]}],\"float_features\":[{\"borders\":[0.5],"
    "\"feature_index\":0,\"flat_feature_index\":0,\"nan_value_treatment\":\"AsTrue\"}]},\"model_info\":{\"params\":{"
    "\"loss_function\":{\"type\":\"RMSE\"}}},\"oblivious_trees\":[{\"leaf_values\":[1,2,3,4],\"leaf_weights\":"
    "[1,1,1,1],\"splits\":[{\"border\":0.5,\"float_feature_index\":0,\"split_type\":\"FloatFeature\"},"
    "{\"cat_feature_index\":0,\"split_type\":\"OneHotFeature\",\"value\":7}]}],\"scale_and_bias\":[1,[0.5]]}",
    "{\"features_info\":{\"float_features\":[{\"borders\":[0.5],\"flat_feature_index\":0}]},\"scale_and_bias\":[2,[1]],"
    "\"trees\":[{\"left\":{\"value\":1,\"weight\":2},\"right\":{\"value\":3,\"weight\":1},\"split\":{\"border\":0.5,"
    "\"float_feature_index\":0,\"split_type\":\"FloatFeature\"}}]}",
    "{\"learner\":{\"feature_names\":[\"a\",\"b\"],\"feature_types\":[\"float\",\"c\"],\"gradient_booster\":{\"model\":"
    "{"
    "\"gbtree_model_param\":{\"num_parallel_tree\":\"1\",\"num_trees\":\"1\"},\"tree_info\":[0],\"trees\":[{"
    "\"categories\":"
    "[0,2],\"categories_nodes\":[1],\"categories_segments\":[0],\"categories_sizes\":[2],\"default_left\":[1,0,0,0,0],"
    "\"left_children\":[1,3,-1,-1,-1],\"right_children\":[2,4,-1,-1,-1],\"split_indices\":[0,1,0,0,0],"
    "\"split_conditions\":[0.5,1e-45,2.5,-1E0,3],\"split_type\":[0,1,0,0,0],\"loss_changes\":[3,2,0,0,0],"
    "\"sum_hessian\":[9,5,4,3,2],\"tree_param\":{\"num_nodes\":\"5\",\"size_leaf_vector\":\"1\"}}]},\"name\":"
    "\"gbtree\"},"
    "\"learner_model_param\":{\"base_score\":\"[5E-1]\",\"num_class\":\"0\",\"num_feature\":\"2\",\"num_target\":\"1\"}"
    ","
    "\"objective\":{\"name\":\"binary:logistic\"}},\"version\":[3,2,0]}",
    "{\"format\":\"gbt\",\"version\":1,\"name\":\"model\",\"objective\":\"squared_error\",\"parameters\":{},\"respons"
    "e\":\"score\",\"classes\":[],\"outputs\":1,\"output_names\":[],\"rounds\":1,\"base\":[0.8345],\"offset\":false,"
    "\"sum\":\"plain\",\"scale\":1,\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"tag\":\"double\"},{\"name\":\"f"
    "\",\"type\":\"levels\",\"tag\":\"factor\",\"levels\":[\"a\",\"c\",\"b\"]},{\"name\":\"o\",\"type\":\"ordered\","
    "\"tag\":\"ordered\",\"levels\":[\"l\",\"h\"]},{\"name\":\"c\",\"type\":\"number\",\"tag\":\"coded:99,-9..-1\",\""
    "missing\":[99,[-9,-1]]}],\"trees\":[{\"output\":0,\"left\":[1,3,5,0,7,9,0,0,0,0,0],\"column\":[1,3,3,-1,2,2,-1,-"
    "1,-1,-1,-1],\"split\":[[1],2.5,\"Infinity\",null,0.5,0.5,null,null,null,null,null],\"missing\":[0,0,0,0,0,1,0,0,"
    "0,0,0],\"unseen\":[0,0,1,0,0,1,0,0,0,0,0],\"value\":[null,null,null,0.6258499998599291,null,null,2.6476363634521"
    "31,1.3906249997339077,2.3014871795208025,-1.7398307691399868,-0.7844461535031979],\"gain\":[391.41950099127575,6"
    ".1910434512185475,154.18201505492166,0,1.9351248410922608,24.77371001600281,0,0,0,0,0],\"cover\":[200,68,132,7,6"
    "1,124,8,25,36,62,62],\"count\":[200,68,132,7,61,124,8,25,36,62,62]}]}",
    "{\"format\":\"gbt\",\"version\":1,\"name\":\"model\",\"objective\":\"softmax\",\"parameters\":{},\"response\":\""
    "softmax\",\"classes\":[\"u\",\"v\"],\"outputs\":2,\"output_names\":[\"u\",\"v\"],\"rounds\":1,\"base\":[-0.18032"
    "355413128162,-1.8018098050815565],\"offset\":false,\"sum\":\"plain\",\"scale\":1,\"columns\":[{\"name\":\"a\",\""
    "type\":\"number\",\"tag\":\"double\"},{\"name\":\"f\",\"type\":\"levels\",\"tag\":\"factor\",\"levels\":[\"a\","
    "\"c\",\"b\"]}],\"trees\":[{\"output\":-1,\"left\":[1,0,0],\"column\":[1,-1,-1],\"split\":[[1],null,null],\"missi"
    "ng\":[0,0,0],\"unseen\":[0,0,0],\"value\":[null,[-0.21778133534550467,0.21778133534550467],[0.120235900122242,-0"
    ".120235900122242]],\"gain\":[35.55964616308427,0,0],\"cover\":[110.22000000812113,37.474800002761185,72.74520000"
    "535995],\"count\":[200,68,132]}]}",
    "{\"format\":\"gbt\",\"version\":2,\"name\":\"model\",\"objective\":\"squared_error\",\"parameters\":{},\"respons"
    "e\":\"score\",\"classes\":[],\"outputs\":1,\"output_names\":[],\"rounds\":2,\"base\":[4.1605],\"offset\":false,"
    "\"sum\":\"plain\",\"scale\":1,\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"tag\":\"double\"},{\"name\":\"b"
    "\",\"type\":\"number\",\"tag\":\"double\"},{\"name\":\"f\",\"type\":\"levels\",\"tag\":\"factor\",\"levels\":[\""
    "v\",\"w\",\"u\"]}],\"grids\":[{\"column\":0,\"cuts\":[0.175,0.335,0.505,0.675,0.835],\"positions\":[-16220,-1097"
    "7,-5571,0,5407,10650]},{\"column\":1,\"cuts\":[0.75,1.25,1.75,2.25,2.75],\"positions\":[-12288,-8192,-4096,0,409"
    "6,8192]}],\"trees\":[{\"output\":0,\"left\":[1,3,5,0,0,0,0],\"column\":[1,1,1,-1,-1,-1,-1],\"split\":[1.75,0.75,"
    "0.75,null,null,null,null],\"missing\":[1,0,0,0,0,0,0],\"unseen\":[1,0,0,0,0,0,0],\"value\":[null,null,null,-0.31"
    "65861110306448,-0.10427565782968151,0.31671645580496216,0.31671645580496216],\"gain\":[142.82051205696504,14.548"
    "45455532815,0,0,0,0,0],\"cover\":[200,124,76,51,73,0,76],\"count\":[200,124,76,51,73,0,76],\"linear\":[null,null"
    ",null,null,null,null,[0.25846206614901123,0.25846206614901123,0.37652429585173846,1,0.000014411893274258695]],\""
    "means\":[null,null,null,null,null,null,[4042.105270385742]]},{\"output\":0,\"left\":[1,3,5,0,0,0,0],\"column\":["
    "0,0,0,-1,-1,-1,-1],\"split\":[0.505,0.175,0.175,null,null,null,null],\"missing\":[1,0,0,0,0,0,0],\"unseen\":[1,0"
    ",0,0,0,0,0],\"value\":[null,null,null,-0.5697957796730885,-0.21962341219996625,0.3599267086835906,0.359926708683"
    "5906],\"gain\":[291.5507037671833,29.32950112093883,0,0,0,0,0],\"cover\":[200,101,99,35,66,0,99],\"count\":[200,"
    "101,99,35,66,0,99],\"linear\":[null,null,null,null,[0.061450947406190864,-0.31517490790175195,-0.129692592715932"
    "6,0,0.00003431045415941904],null,[0.12155792605350907,0.12155792605350907,0.6007506524155909,0,0.000044994622193"
    "622703]],\"means\":[null,null,null,null,[-8192.090911865234],null,[5297.717178344727]]}]}",
    "{\"format\":\"gbt\",\"version\":3,\"name\":\"model\",\"objective\":\"squared_error\",\"parameters\":{},\"respons"
    "e\":\"score\",\"classes\":[],\"outputs\":1,\"output_names\":[],\"rounds\":1,\"base\":[0.5],\"offset\":false,\"su"
    "m\":\"plain\",\"scale\":1,\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"tag\":\"double\"},{\"name\":\"b\","
    "\"type\":\"number\",\"tag\":\"double\"}],\"trees\":[{\"output\":0,\"left\":[1,0,0],\"column\":[0,-1,-1],\"split"
    "\":[0.5,null,null],\"missing\":[1,0,0],\"unseen\":[1,0,0],\"value\":[null,0.25,-1.5],\"gain\":[2,0,0],\"cover\":"
    "[0,0,0],\"count\":[18,5,13],\"linear\":[null,[0.5,0,0.1,1,-3],null]}]}",
    "{\"format\":\"gbt\",\"version\":1,\"name\":\"model\",\"objective\":\"quantile\",\"parameters\":{\"quantile_alpha"
    "\":0.2},\"levels\":[0.2,0.8],\"response\":\"sorted\",\"classes\":[],\"outputs\":2,\"output_names\":[\"q0.2\",\"q"
    "0.8\"],\"rounds\":1,\"base\":[0.9801,4],\"offset\":false,\"sum\":\"plain\",\"scale\":1,\"columns\":[{\"name\":\""
    "a\",\"type\":\"number\",\"tag\":\"double\"}],\"trees\":[{\"output\":0,\"left\":[1,0,0],\"column\":[0,-1,-1],\"sp"
    "lit\":[0.605,null,null],\"missing\":[1,0,0],\"unseen\":[1,0,0],\"value\":[null,0.023250000000000037,-0.120749999"
    "99999998],\"gain\":[10.45648381370682,0,0],\"cover\":[200,121,79],\"count\":[200,121,79]},{\"output\":1,\"left\""
    ":[1,0,0],\"column\":[0,-1,-1],\"split\":[0.625,null,null],\"missing\":[1,0,0],\"unseen\":[1,0,0],\"value\":[null"
    ",0.03467999999999991,-0.08324999999999995],\"gain\":[4.565861025719624,0,0],\"cover\":[200,125,75],\"count\":[20"
    "0,125,75]}]}",
};

uint8_t *fuzz_seed(uint64_t i, size_t *n_bytes) {
  if (i >= sizeof seeds / sizeof *seeds) return NULL;
  *n_bytes = strlen(seeds[i]);
  uint8_t *bytes = test_alloc(*n_bytes);
  memcpy(bytes, seeds[i], *n_bytes);
  return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  fuzz_use(bytes, n);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed) {
  return fuzz_change(bytes, n, most, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out, size_t most,
                                 unsigned seed) {
  return fuzz_join(a, n_a, b, n_b, out, most, seed);
}
