/* gbt: gradient boosted trees. The engine's one public header.
 *
 *   gbt_ctx_open            one call's memory, threads and way to stop               base/ctx.h
 *   gbt_dataset_new         borrowed columns -> cuts -> binned pages                 data/table.h, data/dataset.h
 *   gbt_trainer_new, _run   data sets + parameters -> forest                         boost/trainer.h, params.h
 *   gbt_model_write, _open  forest + objective + schema + meta <-> bytes             model/model.h
 *   gbt_model_answer        model + bound table -> scores, responses, classes        model/answer.h
 *   gbt_predict_...         forest + bound table -> scores, leaves                   model/predict.h
 *   gbt_device_api          the same on a device, by a library of its own            backend/device.h
 *
 * C11, no host language, nothing printed, no aborts, no mutable globals. Fallible functions return gbt_status and fill
 * a gbt_error. Each header says for every pointer who owns it. */
#ifndef GBT_GBT_H
#define GBT_GBT_H

#include "backend/device.h"
#include "base/ctx.h"
#include "base/schema.h"
#include "base/status.h"
#include "boost/metric.h"
#include "boost/trainer.h"
#include "data/dataset.h"
#include "data/table.h"
#include "model/answer.h"
#include "model/model.h"
#include "model/predict.h"
#include "objective/objective.h"
#include "params.h"
#include "tree/view.h"

#define GBT_VERSION_TEXT "0.1.0"

#endif
