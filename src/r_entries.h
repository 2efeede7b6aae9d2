/* Functions for R: prototypes and the table that R_init_gbt() registers. Made by `sh tools/check-entries.sh --write`
 * from the definitions in r_*.c; do not edit. X(name, number of arguments). */
#ifndef R_ENTRIES_H
#define R_ENTRIES_H

SEXP r_gbt_blank_records(SEXP bytes, SEXP sep);
SEXP r_gbt_bytes_join(SEXP bytes, SEXP beg, SEXP end, SEXP more);
SEXP r_gbt_check_file(SEXP path);
SEXP r_gbt_check_interrupt(void);
SEXP r_gbt_class_weights(SEXP label, SEXP weight, SEXP given, SEXP n_classes, SEXP threads);
SEXP r_gbt_codec_is_here(SEXP codec);
SEXP r_gbt_cuda_info(SEXP library, SEXP number);
SEXP r_gbt_cuda_nccl(SEXP library);
SEXP r_gbt_dataset_chunks(SEXP next, SEXP n_rows, SEXP reference, SEXP weight, SEXP max_bin, SEXP page_rows,
                          SEXP unseen, SEXP threads, SEXP disk);
SEXP r_gbt_dataset_fingerprint(SEXP dataset, SEXP classes);
SEXP r_gbt_dataset_gather(SEXP dataset, SEXP mask, SEXP threads);
SEXP r_gbt_dataset_info(SEXP dataset);
SEXP r_gbt_dataset_new(SEXP frame, SEXP reference, SEXP weight, SEXP max_bin, SEXP page_rows, SEXP unseen, SEXP threads,
                       SEXP device, SEXP disk);
SEXP r_gbt_dataset_open(SEXP path, SEXP memory, SEXP threads);
SEXP r_gbt_dataset_view(SEXP dataset, SEXP fields, SEXP mask, SEXP taken);
SEXP r_gbt_default_metric(SEXP objective);
SEXP r_gbt_distribution(SEXP objective, SEXP score, SEXP ask, SEXP at, SEXP seed, SEXP threads);
SEXP r_gbt_draft_drop(SEXP draft);
SEXP r_gbt_draft_end(SEXP draft);
SEXP r_gbt_draft_open(SEXP path);
SEXP r_gbt_draft_put(SEXP draft, SEXP what);
SEXP r_gbt_drop_blank(SEXP bytes, SEXP sep);
SEXP r_gbt_enums(void);
SEXP r_gbt_explain(SEXP state, SEXP cache, SEXP frame, SEXP background, SEXP player, SEXP n_players, SEXP interactions,
                   SEXP round_end, SEXP offset, SEXP unseen, SEXP threads, SEXP device);
SEXP r_gbt_export(SEXP state, SEXP cache, SEXP rounds, SEXP format, SEXP name, SEXP has_offset, SEXP exposed,
                  SEXP levels, SEXP outputs);
SEXP r_gbt_export_formats(void);
SEXP r_gbt_gzip_tail(SEXP bytes);
SEXP r_gbt_hold_out(SEXP n_rows, SEXP share, SEXP seed, SEXP class);
SEXP r_gbt_import(SEXP bytes);
SEXP r_gbt_mark_quoted(SEXP bytes, SEXP sep, SEXP marks);
SEXP r_gbt_metric_check(SEXP metric, SEXP param, SEXP objective, SEXP n_outputs);
SEXP r_gbt_metric_default(SEXP metric, SEXP objective, SEXP n_outputs);
SEXP r_gbt_metric_labels_check(SEXP metric, SEXP param, SEXP label, SEXP data, SEXP numbers);
SEXP r_gbt_metric_values(SEXP metrics, SEXP params, SEXP outputs, SEXP objective, SEXP n_outputs, SEXP score,
                         SEXP label, SEXP weight, SEXP group, SEXP fields, SEXP baseline, SEXP threads);
SEXP r_gbt_metrics(void);
SEXP r_gbt_model_cache(SEXP state);
SEXP r_gbt_model_importance(SEXP state, SEXP cache, SEXP round_beg, SEXP round_end);
SEXP r_gbt_model_info(SEXP state, SEXP cache);
SEXP r_gbt_model_known(SEXP fields);
SEXP r_gbt_model_levels(SEXP state, SEXP cache);
SEXP r_gbt_model_mean(SEXP states, SEXP meta);
SEXP r_gbt_model_nodes(SEXP state, SEXP cache);
SEXP r_gbt_model_remember(SEXP fields, SEXP checked);
SEXP r_gbt_model_shape(SEXP state, SEXP cache, SEXP objective, SEXP names, SEXP tags);
SEXP r_gbt_model_slice(SEXP state, SEXP rounds, SEXP meta);
SEXP r_gbt_model_slopes(SEXP state, SEXP cache);
SEXP r_gbt_number_codes(SEXP x, SEXP storage);
SEXP r_gbt_objective_outputs(SEXP objective);
SEXP r_gbt_objectives(void);
SEXP r_gbt_params_check(SEXP params);
SEXP r_gbt_params_table(void);
SEXP r_gbt_predict(SEXP state, SEXP cache, SEXP frame, SEXP kind, SEXP round_beg, SEXP round_end, SEXP offset,
                   SEXP unseen, SEXP threads, SEXP device);
SEXP r_gbt_predict_bins(SEXP state, SEXP cache, SEXP dataset, SEXP kind, SEXP round_beg, SEXP round_end, SEXP offset,
                        SEXP unseen, SEXP threads);
SEXP r_gbt_predict_plain(SEXP model, SEXP x, SEXP kind, SEXP few, SEXP unseen, SEXP rounds, SEXP threads);
SEXP r_gbt_ranks_agree(void);
SEXP r_gbt_ranks_bytes(SEXP mine, SEXP lengths);
SEXP r_gbt_ranks_fail(SEXP kind, SEXP message, SEXP subject, SEXP host);
SEXP r_gbt_ranks_know(void);
SEXP r_gbt_ranks_look(void);
SEXP r_gbt_ranks_numbers(SEXP number);
SEXP r_gbt_ranks_open(SEXP library, SEXP group, SEXP timeout, SEXP start, SEXP most);
SEXP r_gbt_ranks_sums(SEXP numbers);
SEXP r_gbt_ranks_use(SEXP handle);
SEXP r_gbt_read_file(SEXP path);
SEXP r_gbt_records(SEXP bytes, SEXP sep);
SEXP r_gbt_resample(SEXP n_units, SEXP seed, SEXP replicate);
SEXP r_gbt_responses(SEXP objective, SEXP n_outputs, SEXP score, SEXP threads);
SEXP r_gbt_row_draws(SEXP n_rows, SEXP seed, SEXP before);
SEXP r_gbt_stopping(SEXP values, SEXP maximise, SEXP min_delta, SEXP patience);
SEXP r_gbt_system(SEXP threads_wanted);
SEXP r_gbt_take(SEXP x, SEXP rows);
SEXP r_gbt_take_sparse(SEXP p, SEXP i, SEXP n_rows, SEXP rows);
SEXP r_gbt_text_codes(SEXP x);
SEXP r_gbt_text_twin(SEXP x);
SEXP r_gbt_trainer_biases(SEXP trainer_xptr);
SEXP r_gbt_trainer_cat_methods(SEXP trainer_xptr);
SEXP r_gbt_trainer_free(SEXP trainer_xptr);
SEXP r_gbt_trainer_hazards(SEXP trainer_xptr, SEXP threads, SEXP score);
SEXP r_gbt_trainer_info(SEXP trainer_xptr);
SEXP r_gbt_trainer_learned(SEXP trainer_xptr);
SEXP r_gbt_trainer_loss(SEXP trainer_xptr, SEXP threads);
SEXP r_gbt_trainer_model(SEXP trainer_xptr, SEXP meta);
SEXP r_gbt_trainer_new(SEXP spec, SEXP threads);
SEXP r_gbt_trainer_objective(SEXP trainer_xptr);
SEXP r_gbt_trainer_resume(SEXP trainer_xptr, SEXP path, SEXP threads);
SEXP r_gbt_trainer_run(SEXP trainer_xptr, SEXP n_rounds, SEXP threads);
SEXP r_gbt_trainer_save(SEXP trainer_xptr, SEXP path, SEXP note, SEXP threads);
SEXP r_gbt_trainer_scores(SEXP trainer_xptr, SEXP which, SEXP response, SEXP best, SEXP threads);
SEXP r_gbt_trainer_see(SEXP trainer_xptr, SEXP value);
SEXP r_gbt_trainer_set_gradients(SEXP trainer_xptr, SEXP g, SEXP h, SEXP threads);
SEXP r_gbt_trainer_so_far(SEXP trainer_xptr);
SEXP r_gbt_trainer_unsplit(SEXP trainer_xptr);
SEXP r_gbt_trainer_watch(SEXP trainer_xptr, SEXP maximise);
SEXP r_gbt_trainers_run(SEXP trainers, SEXP n_rounds, SEXP threads);
SEXP r_gbt_unseen(SEXP state, SEXP cache, SEXP frame, SEXP threads);
SEXP r_gbt_values_read(SEXP bytes);
SEXP r_gbt_values_write(SEXP values);
SEXP r_gbt_write_file(SEXP path, SEXP raw);

#define R_ENTRIES(X) \
  X(blank_records, 2) \
  X(bytes_join, 4) \
  X(check_file, 1) \
  X(check_interrupt, 0) \
  X(class_weights, 5) \
  X(codec_is_here, 1) \
  X(cuda_info, 2) \
  X(cuda_nccl, 1) \
  X(dataset_chunks, 9) \
  X(dataset_fingerprint, 2) \
  X(dataset_gather, 3) \
  X(dataset_info, 1) \
  X(dataset_new, 9) \
  X(dataset_open, 3) \
  X(dataset_view, 4) \
  X(default_metric, 1) \
  X(distribution, 6) \
  X(draft_drop, 1) \
  X(draft_end, 1) \
  X(draft_open, 1) \
  X(draft_put, 2) \
  X(drop_blank, 2) \
  X(enums, 0) \
  X(explain, 12) \
  X(export, 9) \
  X(export_formats, 0) \
  X(gzip_tail, 1) \
  X(hold_out, 4) \
  X(import, 1) \
  X(mark_quoted, 3) \
  X(metric_check, 4) \
  X(metric_default, 3) \
  X(metric_labels_check, 5) \
  X(metric_values, 12) \
  X(metrics, 0) \
  X(model_cache, 1) \
  X(model_importance, 4) \
  X(model_info, 2) \
  X(model_known, 1) \
  X(model_levels, 2) \
  X(model_mean, 2) \
  X(model_nodes, 2) \
  X(model_remember, 2) \
  X(model_shape, 5) \
  X(model_slice, 3) \
  X(model_slopes, 2) \
  X(number_codes, 2) \
  X(objective_outputs, 1) \
  X(objectives, 0) \
  X(params_check, 1) \
  X(params_table, 0) \
  X(predict, 10) \
  X(predict_bins, 9) \
  X(predict_plain, 7) \
  X(ranks_agree, 0) \
  X(ranks_bytes, 2) \
  X(ranks_fail, 4) \
  X(ranks_know, 0) \
  X(ranks_look, 0) \
  X(ranks_numbers, 1) \
  X(ranks_open, 5) \
  X(ranks_sums, 1) \
  X(ranks_use, 1) \
  X(read_file, 1) \
  X(records, 2) \
  X(resample, 3) \
  X(responses, 4) \
  X(row_draws, 3) \
  X(stopping, 4) \
  X(system, 1) \
  X(take, 2) \
  X(take_sparse, 4) \
  X(text_codes, 1) \
  X(text_twin, 1) \
  X(trainer_biases, 1) \
  X(trainer_cat_methods, 1) \
  X(trainer_free, 1) \
  X(trainer_hazards, 3) \
  X(trainer_info, 1) \
  X(trainer_learned, 1) \
  X(trainer_loss, 2) \
  X(trainer_model, 2) \
  X(trainer_new, 2) \
  X(trainer_objective, 1) \
  X(trainer_resume, 3) \
  X(trainer_run, 3) \
  X(trainer_save, 4) \
  X(trainer_scores, 5) \
  X(trainer_see, 2) \
  X(trainer_set_gradients, 4) \
  X(trainer_so_far, 1) \
  X(trainer_unsplit, 1) \
  X(trainer_watch, 2) \
  X(trainers_run, 3) \
  X(unseen, 4) \
  X(values_read, 1) \
  X(values_write, 1) \
  X(write_file, 2)

#endif
