/* The formats, and the call. */
#include <stdio.h>
#include <string.h>

#include "formats.h"

static const gbti_format formats[] = {
#define GBT_FORMAT(ID, name, extension, flags, text) {name, extension, text, flags, gbti_write_##ID, gbti_read_##ID},
#include "formats.def"
#undef GBT_FORMAT
};
enum { N_FORMATS = (int)(sizeof formats / sizeof formats[0]) };

const char *gbt_export_name(int format) { return format >= 0 && format < N_FORMATS ? formats[format].name : NULL; }
const char *gbt_export_extension(int format) {
  return format >= 0 && format < N_FORMATS ? formats[format].extension : NULL;
}
const char *gbt_export_text(int format) { return format >= 0 && format < N_FORMATS ? formats[format].text : NULL; }

void gbti_formats_with(uint32_t can, char names[GBTI_NAMES_LENGTH]) {
  int last = 0, n = 0;
  size_t at = 0;
  names[0] = 0;
  for (int i = 0; i < N_FORMATS; i++)
    if ((formats[i].flags & can) == can && !(formats[i].flags & GBTI_FLOATS)) last = i;
  for (int i = 0; i <= last; i++) {
    if ((formats[i].flags & can) != can || (formats[i].flags & GBTI_FLOATS)) continue;
    const char *between = n++ == 0 ? "" : i == last ? " or " : ", ";
    const int more = snprintf(names + at, GBTI_NAMES_LENGTH - at, "%s\"%s\"", between, formats[i].name);
    at += more > 0 && (size_t)more < GBTI_NAMES_LENGTH - at ? (size_t)more : 0;
  }
}

static int is_name_letter(char c, size_t at) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return 1;
  return at > 0 && ((c >= '0' && c <= '9') || c == '_');
}

static gbt_status check_spec(const gbt_export_spec *spec, const gbt_forest_info *about, gbt_error *err) {
  if (gbt_export_name(spec->format) == NULL) return gbt_fail_on(err, GBT_E_ARG, "format", "there is no such format");
  size_t n = 0;
  while (is_name_letter(spec->name[n], n)) n++;
  if (n == 0 || spec->name[n] != 0 || n > 64)
    return gbt_fail_on(err, GBT_E_ARG, "name",
                       "`name` must be letters, digits and \"_\", beginning with a letter, at most 64");
  if (spec->trees.beg > spec->trees.end || spec->trees.end > about->n_trees ||
      spec->trees.beg % about->trees_per_round != 0 || spec->trees.end % about->trees_per_round != 0)
    return gbt_fail(err, GBT_E_ARG, "trees are not those of whole rounds");
  return GBT_OK;
}

gbt_status gbt_export_model(gbt_ctx *ctx, const gbt_export_spec *spec, gbt_export_facts *facts, uint8_t **out,
                            size_t *n_out, gbt_error *err) {
  const gbt_forest_view *forest = gbt_model_forest(spec->model);
  const gbt_forest_info about = gbt_forest_about(forest);
  *out = NULL;
  *n_out = 0;
  memset(facts, 0, sizeof *facts);
  GBT_TRY(check_spec(spec, &about, err));
  const gbt_meta *classes = gbt_model_meta(spec->model, "classes");
  gbt_objective objective = *gbt_model_objective(spec->model);
  objective.levels = spec->levels;
  gbti_outgoing x = {.mem = ctx->mem,
                     .err = err,
                     .format = &formats[spec->format],
                     .name = spec->name,
                     .objective = &objective,
                     .schema = gbt_model_schema(spec->model),
                     .has_offset = spec->has_offset,
                     .outputs = spec->outputs,
                     .facts = facts};
  if (classes != NULL && classes->kind == GBT_META_TEXT) {
    x.classes = classes->text;
    x.n_classes = classes->n;
  }
  const gbt_meta *type = gbt_model_meta(spec->model, "response");
  if (type != NULL && type->kind == GBT_META_TEXT && type->n == 1) x.class_type = type->text[0];
  for (int64_t i = 0; i < x.n_classes; i++)
    if (x.classes[i] == NULL) x.n_classes = 0;
  if (spec->has_offset && !(x.format->flags & GBTI_CAN_OFFSET))
    return gbti_refuse_for(&x, "offset", GBTI_CAN_OFFSET,
                           spec->exposed ? "it was trained with an exposure, which scores of the file would lack"
                                         : "it was trained with an offset, and scores of the file would lack it");
  if (spec->has_offset)
    gbti_tell(&x, spec->exposed ? "the model was trained with an exposure: add the logarithms of the rows' exposures, "
                                  "and any other offsets, to their scores"
                                : "the model was trained with an offset: add the rows' offsets to their scores");
  gbti_file text = {.mem = ctx->mem, .err = err};
  gbti_evaluator written = {0};
  gbt_status status;
  GBT_TRY_GOTO(gbti_outgoing_make(ctx, &x, forest, spec->trees), done);
  GBT_TRY_GOTO(x.format->write(&x, &text), done);
  GBT_TRY_GOTO(text.status, done);
  GBT_TRY_GOTO(x.format->read(&x, text.at, text.n, &written), done);
  GBT_TRY_GOTO(gbti_compare(ctx, &x, &written, forest), done);
  *out = text.at;
  *n_out = text.n;
  text.at = NULL;
done:
  if (written.close != NULL) written.close(written.state);
  gbt_mem_free(&text.mem, text.at);
  gbti_outgoing_drop(&x);
  return status;
}
