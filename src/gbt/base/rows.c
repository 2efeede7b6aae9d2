#include "rows.h"

#include <stddef.h>

static const gbt_field_info infos[] = {
#define GBT_ROW_FIELD(ID, name, width, rule) {name, GBT_WIDTH_##width, GBT_NUMBERS_##rule},
#include "row_fields.def"
};

const gbt_field_info *gbt_field_about(gbt_field field) { return &infos[field]; }

const char *gbt_field_name(int field) { return field >= 0 && field < GBT_N_FIELDS ? infos[field].name : NULL; }
