/* From scores to responses, in C source: to_c.c. exp() is that of math/elementary.h. */
#include "to_c.h"

static const char exp_text[] = "static double @_exp(double x) {\n"
                               "  const double magic = 6755399441055744.0;\n"
                               "  double c, t, n, r, p, y;\n"
                               "  uint64_t u, v;\n"
                               "  c = x > 708.0 ? 708.0 : x;\n"
                               "  c = c < -708.0 ? -708.0 : c;\n"
                               "  t = c * 1.4426950408889634 + magic;\n"
                               "  n = t - magic;\n"
                               "  r = (c - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;\n"
                               "  p = 1.0 / 6227020800.0;\n"
                               "  p = p * r + 1.0 / 479001600.0;\n"
                               "  p = p * r + 1.0 / 39916800.0;\n"
                               "  p = p * r + 1.0 / 3628800.0;\n"
                               "  p = p * r + 1.0 / 362880.0;\n"
                               "  p = p * r + 1.0 / 40320.0;\n"
                               "  p = p * r + 1.0 / 5040.0;\n"
                               "  p = p * r + 1.0 / 720.0;\n"
                               "  p = p * r + 1.0 / 120.0;\n"
                               "  p = p * r + 1.0 / 24.0;\n"
                               "  p = p * r + 1.0 / 6.0;\n"
                               "  p = p * r + 0.5;\n"
                               "  y = (p * r) * r + r + 1.0;\n"
                               "  memcpy(&u, &y, 8);\n"
                               "  memcpy(&v, &t, 8);\n"
                               "  u += v << 52;\n"
                               "  memcpy(&y, &u, 8);\n"
                               "  return y;\n"
                               "}\n\n";

static const char expm1_text[] = "static double @_expm1(double x) {\n"
                                 "  double p = 1.0 / 6227020800.0;\n"
                                 "  if (!(x > -0.35 && x < 0.35)) return @_exp(x) - 1.0;\n"
                                 "  p = p * x + 1.0 / 479001600.0;\n"
                                 "  p = p * x + 1.0 / 39916800.0;\n"
                                 "  p = p * x + 1.0 / 3628800.0;\n"
                                 "  p = p * x + 1.0 / 362880.0;\n"
                                 "  p = p * x + 1.0 / 40320.0;\n"
                                 "  p = p * x + 1.0 / 5040.0;\n"
                                 "  p = p * x + 1.0 / 720.0;\n"
                                 "  p = p * x + 1.0 / 120.0;\n"
                                 "  p = p * x + 1.0 / 24.0;\n"
                                 "  p = p * x + 1.0 / 6.0;\n"
                                 "  p = p * x + 0.5;\n"
                                 "  return (p * x) * x + x;\n"
                                 "}\n\n";

static const char *response_text(gbti_link link) {
  switch (link) {
  case GBTI_LINK_NONE:
    break;
  case GBTI_LINK_SIGMOID:
    return "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = 1.0 / (1.0 + @_exp(-out[k]));\n";
  case GBTI_LINK_EXP:
    return "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = @_exp(out[k]);\n";
  case GBTI_LINK_EXPM1:
    return "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = @_expm1(out[k]);\n";
  case GBTI_LINK_SOFTMAX:
    return "  double top = out[0], sum = 0.0;\n"
           "  for (int k = 1; k < @_N_OUTPUTS; k++) top = out[k] > top ? out[k] : top;\n"
           "  for (int k = 0; k < @_N_OUTPUTS; k++) {\n"
           "    out[k] = @_exp(out[k] - top);\n"
           "    sum += out[k];\n"
           "  }\n"
           "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = out[k] / sum;\n";
  case GBTI_LINK_SORTED:
    return "  for (int k = 1; k < @_N_OUTPUTS; k++) {\n"
           "    double s = out[k];\n"
           "    int i = k;\n"
           "    for (; i > 0 && out[i - 1] > s; i--) out[i] = out[i - 1];\n"
           "    out[i] = s;\n"
           "  }\n";
  }
  return "";
}

void gbti_put_c_response(const gbti_outgoing *x, gbti_file *out) {
  if (x->link != GBTI_LINK_NONE && x->link != GBTI_LINK_SORTED) gbti_put_named(out, x->name, exp_text);
  if (x->link == GBTI_LINK_EXPM1) gbti_put_named(out, x->name, expm1_text);
  gbti_put_named(out, x->name,
            "void @_predict(const double *row, const double *offset, double *out) {\n"
            "  @_score(row, offset, out);\n");
  gbti_put_named(out, x->name, response_text(x->link));
  gbti_put(out, "}\n");
}
