/* gbt: gradient boosted trees. The engine's one public header: all that a host includes.
 *
 *   gbt_ctx_open                   memory, threads and stop requests of one call           base/ctx.h
 *   gbt_comm                       the other ranks that train the same model               base/comm.h
 *   gbt_os_open                    files of the operating system, for the host's own use   base/os_file.h
 *   gbt_dataset_make               borrowed columns, or chunks of a source -> bins         data/dataset.h, table.h,
 *                                                                                          source.h
 *   gbt_disk_open, _writer_new     data sets in folders, for data larger than memory       disk/disk.h
 *   gbt_trainer_new, _run          data sets + objective + parameters -> trees             boost/trainer.h, params.h
 *   gbt_trainers_run               several of them at a time                               boost/side_by_side.h
 *   gbt_stopper_update             early stopping on any series of values                  boost/stopper.h
 *   gbt_model_make, _open          trees + objective + schema + meta <-> bytes             model/model.h
 *   gbt_values_write, _read        the host's values in other files <-> bytes              bytes/values.h
 *   gbt_model_make_mean            several models -> one, the mean of their scores         model/mean.h
 *   gbt_import, gbt_export_model   models of other programs -> bytes of a model; a model   exchange/exchange.h
 *                                  -> files of others
 *   gbt_model_answer, _bins        model + bound table or data set -> scores, responses,   model/answer.h
 *                                  classes
 *   gbt_distribution_answers       scores of distributions -> means, quantiles, draws      objective/
 *                                                                                          distribution_answers.h
 *   gbt_predictor_new, _scores     many predictions from one forest                        model/predict.h
 *   gbt_explain                    contributions of features to scores                     explain/explain.h
 *   gbt_forest_about, _tree_node   the contents of the trees                               tree/view.h
 *   gbt_device_fits, _help         work on a device (a GPU), by a separate library         backend/device.h
 *
 * Objects with state (data sets, trainers, models, predictors, forests, devices) are opaque types with functions;
 * arguments and results are plain data. tests/native/whole/test_stranger.c does all of it with only this header.
 *
 * The engine is C11 without a host language. It prints nothing, never aborts and has no mutable globals. Functions that
 * can fail return gbt_status and fill a gbt_error (base/status.h). All functions follow these rules, unless their
 * header says otherwise:
 *
 *   numbers     rows, columns, features, outputs, classes, levels, trees and nodes count from 0; messages count from 1.
 *               Sizes of memory are in bytes, times in seconds
 *   matrices    n rows x k columns is one array of doubles, column by column: cell (row, column) is [column * n + row]
 *   texts       UTF-8, with a NUL at the end
 *   flags       an int that is true when it is not 0
 *   arguments   are borrowed for the call. The caller must keep conditions such as "tree < n_trees"; they are not
 *               checked
 *   results     *out belongs to the caller, who frees it by the function that the header names. A const pointer is
 *               borrowed from the object that returned it. Where a header names no error, a call fails only for lack of
 *               memory (GBT_E_MEM), by a device (GBT_E_DEVICE), when poll() asks to stop (GBT_CANCELLED), or when pages
 *               of a data set on disk cannot be read (GBT_E_IO, GBT_E_FORMAT)
 *   objects     are used by one thread at a time. They keep the gbt_mem that they were made with, and stay valid after
 *               the gbt_ctx of that call is closed
 *
 * Formulas, with their sources: math/gain.h (values of leaves, gains of splits), objective/NAME.h (loss, gradient and
 * response of each objective), metric/terms.h, class_terms.h, cells.h and ranking.h (metrics), math/sampling.h (rows
 * drawn by gradients), encode/ordered.h (statistics of categories), explain/step.h (contributions).
 * docs/glossary.md explains the terms. */
#ifndef GBT_GBT_H
#define GBT_GBT_H

#include "backend/device.h"
#include "base/comm.h"
#include "base/ctx.h"
#include "base/os_file.h"
#include "schema/schema.h"
#include "base/status.h"
#include "boost/metric.h"
#include "boost/side_by_side.h"
#include "boost/stopper.h"
#include "boost/trainer.h"
#include "data/dataset.h"
#include "data/source.h"
#include "data/table.h"
#include "disk/disk.h"
#include "encode/cat_method.h"
#include "exchange/exchange.h"
#include "explain/explain.h"
#include "model/answer.h"
#include "model/mean.h"
#include "model/model.h"
#include "model/predict.h"
#include "bytes/utf8.h"
#include "bytes/values.h"
#include "objective/class_weight.h"
#include "objective/distribution_answers.h"
#include "objective/objective.h"
#include "params.h"
#include "tree/view.h"

/* The version of gbt, for hosts to show and to store. */
#define GBT_VERSION_TEXT "0.1.0"

#endif
