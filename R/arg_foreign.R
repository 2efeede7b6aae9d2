# Names of other packages: the one table of what they mean here, or of what to do instead. Users come from other
# packages and type the names that they know. Nothing is ignored in silence.

# The table. A line is "names -> reply"; lines that begin with spaces continue it. A heading says what the names belong
# to: parameters of training, by topic; arguments of predict(); objectives, as regular expressions in lower case, the
# first that fits, whose reply may be empty; metrics; parameters of both (those of objectives to be shown: the engine
# reads them).
#   names   with underscores; after a slash the packages that use it: x XGBoost, l LightGBM, c CatBoost, o others
#   =       values of a refused parameter that ask for what gbt does anyway: they are accepted. TRUE is not 1.
#           Where this depends on other parameters see `asks_for_usual`
#   ;       names with other accepted values, and the same reply
#   reply   gbt's name; of metrics those nearest to it. Else what to do, as the end of a sentence; @survival and others
#           stand for texts of R/arg_not_offered.R
foreign_text <- r"---(
[train: Data]
weights/xl weight/lc sample_weight/xc case_weights/o -> weights
offset base_margin/x init_score/l baseline/c -> offset
exposure/o -> exposure
mask -> mask
strata -> strata
position/x -> position
sparse_zero -> sparse_zero
max_bin/xlc max_bins/lo border_count/c nbins/o -> max_bin
[train: Objective]
objective/xlc loss_function/c distribution/o family/o loss/lo app/l application/l obj/xl objective_type/l ->
  objective
num_class/xl num_classes/l classes_count/c -> num_class
class_weights/co class_weight/o scale_pos_weight/xlc is_unbalance/l unbalance/l unbalanced_sets/l balance_classes/o
  auto_class_weights/c -> class_weights
softmax_hessian -> softmax_hessian
cause -> cause
label_gain/l -> label_gain
breaks -> breaks
[train: Rounds]
nrounds/xl num_iterations/l num_iteration/l n_estimators/xlc iterations/c num_boost_round/xlc num_trees/xlco ntrees/o
  n_trees/o ntree/o max_iter/lo trees/o num_round/l num_rounds/l n_iter/l num_tree/l rounds/o epochs/o -> nrounds
eta/xlc learning_rate/xlco shrinkage/o shrinkage_rate/l step_size/o learn_rate/o -> eta
preset -> preset
ensemble -> ensemble
init_model/lc xgb_model/x model_in/l model_input/l input_model/l -> init_model
boosting/l booster/x boosting_type/lc boost/l -> boosting
[train: Validation and early stopping]
valid/l evals/xc watchlist/x valids/l eval_set/xc test_pool/c validation/o valid_data/l valid_data_file/l
  validation_frame/o   valid_filenames/l test/l test_data/l test_data_file/l -> valid
eval_metric/xc metric/l metrics/xl metric_types/l custom_loss/c custom_metric/xc stopping_metric/o eval/l -> eval_metric
eval_train eval_train_metric/l is_provide_training_metric/l is_training_metric/l training_metric/l train_metric/l ->
  eval_train
early_stopping_rounds/xlc early_stopping_round/l early_stopping/lo od_wait/c n_iter_no_change/lo stopping_rounds/o
  stop_iter/o patience/o -> early_stopping_rounds
early_stopping_min_delta/l min_delta/o early_stopping_tolerance/o -> early_stopping_min_delta
max_seconds max_runtime_secs/o -> max_seconds
[train: Trees]
tree_method/x -> tree_method
max_depth/xlco depth/c interaction_depth/o tree_depth/o maxdepth/o -> max_depth
max_leaves/xlc num_leaves/lc max_leaf_nodes/lo num_leaf/l max_leaf/l -> max_leaves
grow_policy/xc -> grow_policy
min_child_weight/xl min_sum_hessian_in_leaf/l min_sum_hessian/l min_sum_hessian_per_leaf/l min_hessian/l ->
  min_child_weight
min_data_in_leaf/lc min_child_samples/lc min_samples_leaf/lo min_rows/o n_minobsinnode/o min_n/o min_data/l
  min_data_per_leaf/l minbucket/o -> min_data_in_leaf
gamma/x min_split_loss/x min_gain_to_split/l min_split_gain/l loss_reduction/o -> gamma
num_parallel_tree/x -> num_parallel_tree
multi_strategy/x -> multi_strategy
sketch -> sketch
random_strength/c -> random_strength
extra_trees/l extra_tree/l -> extra_trees
[train: Leaves]
lambda/xl reg_lambda/xlc l2_leaf_reg/c lambda_l2/l l2_regularization/lo -> lambda
alpha/xl reg_alpha/xl lambda_l1/l l1_regularization/l -> alpha
max_delta_step/xl max_tree_output/l max_leaf_output/l -> max_delta_step
leaf_iterations leaf_estimation_iterations/c -> leaf_iterations
path_smooth/l -> path_smooth
leaf_model linear_tree/l linear_trees/l -> leaf_model
linear_lambda/l -> linear_lambda
[train: Sampling]
subsample/xlc bagging_fraction/l sample_rate/o bag_fraction/o sample_size/o bagging/l sub_row/l sample_rate_per_class/o
  sample_fraction/o   -> subsample
class_shares -> class_shares
sampling_method/x data_sample_strategy/l bootstrap_type/c sampling/o -> sampling_method
top_rate/l -> top_rate
other_rate/l -> other_rate
mvs_reg/c -> mvs_reg
bagging_temperature/c -> bagging_temperature
colsample_bytree/xl feature_fraction/l sub_feature/l col_sample_rate_per_tree/o -> colsample_bytree
colsample_bylevel/xc rsm/c -> colsample_bylevel
colsample_bynode/xl feature_fraction_bynode/l sub_feature_bynode/l -> colsample_bynode
mtry/o -> mtry
feature_weights/xc feature_weight/o -> feature_weights
seed/xlco random_state/xlco random_seed/lc -> seed
[train: Constraints and costs]
monotone monotone_constraints/xlco monotone_constraint/l mc/l var_monotone/o monotonic_cst/lo -> monotone
interactions interaction_constraints/xlo interaction_cst/o -> interactions
first_use_penalty first_feature_use_penalties/c cegb_penalty_feature_coupled/l -> first_use_penalty
[train: Categories]
cat_features/c categorical_feature/l categorical_features/lo cat_feature/l categorical_column/l cat_column/l ->
  cat_features
cat_method -> cat_method
max_cat_onehot max_cat_to_onehot/xl one_hot_max_size/c -> max_cat_onehot
cat_smooth/l -> cat_smooth
cat_l2/l -> cat_l2
cat_noise -> cat_noise
max_cat_threshold/xl -> max_cat_threshold
min_data_per_group/l -> min_data_per_group
max_cat_combine max_ctr_complexity/c -> max_cat_combine
max_cat_keys -> max_cat_keys
cat_permutations permutation_count/c -> cat_permutations
cat_prior -> cat_prior
cat_bins -> cat_bins
level_counts -> level_counts
time timestamp/c -> time
group qid/x group_id/lc query/l query_id/l -> group
[train: Threads, devices and memory]
ranks -> ranks
threads nthread/xl nthreads/xl num_threads/lo num_thread/l n_jobs/xl thread_count/c n_cores/o
  cores/o -> threads
device/xl device_type/l task_type/lc -> device
devices/c gpu_device_id_list/l -> devices
grad_bits -> grad_bits
hist_memory histogram_pool_size/l hist_pool_size/l -> hist_memory
device_memory -> device_memory
page_rows -> page_rows
[train: Log, callbacks and checkpoints]
verbose/xlco verbosity/xl -> verbose
verbose_every print_every_n/x eval_freq/l metric_period/c metric_freq/l output_freq/l -> verbose_every
progress -> progress
callbacks/xlc -> callbacks
checkpoint/o -> checkpoint
checkpoint_seconds snapshot_interval/c -> checkpoint_seconds
[train]
class_names/c -> classes are the levels of the response
target_border/c = "None" -> make the response a factor of two levels first
pos_bagging_fraction/l pos_bagging/l pos_sub_row/l pos_subsample/l = 1; neg_bagging_fraction/l neg_bagging/l
  neg_sub_row/l neg_subsample/l = 1 -> give `subsample` by class: subsample = c(no = 0.1, yes = 1)
bagging_freq/l subsample_freq/l -> `subsample` draws new rows for every tree (`bagging_freq = 1`); leave it at 1 to
  draw none
sampling_frequency/c = "PerTree" -> `subsample` draws new rows for every tree
sampling_unit/c = "Object" -> `subsample` draws rows
bagging_by_query/l = FALSE -> `subsample` draws rows
bagging_seed/l bagging_fraction_seed/l feature_fraction_seed/l data_random_seed/l data_seed/l drop_seed/l extra_seed/l
  objective_seed/l; seed_per_iteration/x = FALSE -> one `seed` decides every random choice
[train: losses, labels, leaves]
rate_drop/xl drop_rate/l = 0 0.1; skip_drop/xl = 0 0.5 1; max_drop/l = 50; one_drop/x = 0 FALSE;
  sample_type/x = "uniform"; normalize_type/x = "tree"; uniform_drop/l xgboost_dart_mode/l = FALSE TRUE -> rounds are
  not dropped; a smaller `eta` with early stopping was better on the sets that were measured
model_shrink_rate/c = 0; model_shrink_mode/c = "constant"; tail_rounds/o = 1 -> a smaller `eta` with early stopping was
  better than models that shrink, or means of the last rounds, on the sets that were measured
model_size_reg/c = 0 -> `first_use_penalty` costs columns that the model does not use yet
fair_c/l -> the Fair loss is a metric here, eval_metric = "fair@2"; to minimise it give a custom objective, see
  ?gbt_objectives
theta/o size/o -> objective "negative_binomial" takes its inverse: `dispersion = 1 / theta`
poisson_max_delta_step/l -> `max_delta_step` bounds the weights of leaves for every objective
sigmoid/l = 1 -> the logistic function has no other slope
reg_sqrt/l = FALSE -> train on the root of the response: gbt_train(x, sqrt(y))
base_score/x; boost_from_average/lc = TRUE -> trees start from the best constant; another start is an `offset`
leaf_estimation_method/c = "Newton" -> leaves take Newton steps, `leaf_iterations` of them
leaf_estimation_backtracking/c -> with `leaf_iterations` above 1 steps that go too far are always halved
allow_const_label/c = TRUE -> numbers that are all equal are accepted, a factor of one class is not
lambda_bias/x = 0; feature_selector/x -> linear boosters are not offered; `leaf_model = "linear"` has linear leaves
lambdarank_pair_method/x -> pairs of rows are chosen by `rank_top`, or drawn at random by `rank_pairs`
ndcg_exp_gain/x -> gains are 2^label - 1, with `rank_linear_gain = TRUE` the labels themselves
ndcg_eval_at/l eval_at/l ndcg_at/l map_at/l map_eval_at/l -> name the places in the metric: `eval_metric = "ndcg@5"`
group_weight/c -> give `weights`, the same for all rows of a query
lambdarank_unbiased/x = FALSE -> give `position`, the place that each row was shown at, and `position_bias = "ratio"`
subgroup_id/c pairs/c pairs_weight/c -> pairs are those of rows of a query whose labels differ
group_column/l query_column/l -> `group` is a vector, or a column of the data: group = qid
label_lower_bound/x label_upper_bound/x status_variable_name/o status/o event/o censored/o -> @survival
posterior_sampling/c langevin/c = FALSE; diffusion_temperature/c -> stochastic gradient Langevin boosting is not
  offered
[train: what decides the kind of model, in other packages]
type/o classification/o task_kind/o prob_model/o -> numbers as the response give regression, a factor gives classes;
  `objective` names other losses
method/o -> there is one method, boosted trees; `objective`, `grow_policy` and `boosting` choose their kind
splitrule/o criterion/o split_criterion/o -> splits are chosen by the loss, which `objective` names
quantreg/o -> `objective = "quantile"` with `quantile_alpha` predicts a quantile, and gbt_conformal() makes intervals
quantiles/o quantile/o tau/o taus/o quantile_level/o -> the levels of quantiles are
  `quantile_alpha`, with objective = "quantile"
link/o -> the objective decides the link: "poisson" has a log link, "logistic" a logit link
replace/o bootstrap/o sampsize/o max_samples/o -> `subsample` is the share of the rows that is drawn for each tree,
  without replacement
classwt/o class_prior/o priors/o -> `class_weights` are the weights of the classes
cutoff/o threshold/o -> compare predict(type = "prob") with a limit of your own
class_stratify_cv/o -> gbt_cv(stratify = ) draws folds by classes; `subsample` can have a share for each class
oob_score/o keep_inbag/o oob_prox/o = FALSE -> there is no out-of-bag error: use `valid`, or gbt_cv()
proximity/o = FALSE -> gbt_neighbours() finds the training rows that are most similar to new rows
warm_start/o = FALSE; start/o etastart/o mustart/o -> `init_model` continues from a model, `offset` adds a known part of
  the score
intercept/o = TRUE -> trees start from the best constant; another start is an `offset`
learn_rate_annealing/o learning_rate_decay/o lr_decay/o = 1 -> `eta` can be a function of the round, such as
  eta = function(round) 0.1 * 0.99^round
penalty/o l1/o l2/o regularization/o -> `lambda` and `alpha` are penalties on leaf values, `gamma` on splits
dropout/o -> rounds are not dropped; `subsample` and `colsample_bytree` draw rows and features
batch_size/o minibatch/o -> every round uses all rows; `subsample` draws a share of them
[train: splits and features]
race -> a race chooses the shape of trees unless all of it is given, as by `grow_policy = "symmetric"`; see
  ?gbt_defaults
random_score_type/c = "NormalWithModelSizeDecrease" -> the noise of `random_strength` is nearly normal and fades with
  the rounds
score_function/c = "NewtonL2" -> splits are scored by gain, with Newton's leaf weights
feature_contri/l feature_contrib/l fc/l fp/l feature_penalty/l cegb_penalty_feature_lazy/l
  per_object_feature_penalties/c -> features cost once at most, until the model uses them: `first_use_penalty`;
  `feature_weights` is the weight by which `colsample_*` draws them
cegb_tradeoff/l penalties_coefficient/c = 1 -> multiply `first_use_penalty` by it
cegb_penalty_split/l = 0 -> `gamma` is the least gain of a split
forcedsplits_filename/l fs/l forced_splits/l forced_splits_file/l forced_splits_filename/l fixed_binary_splits/c
  forcedbins_filename/l -> splits and cuts cannot be prescribed
monotone_constraints_method/l mc_method/l monotone_constraining_method/l = "basic" -> there is one method for monotone
  constraints
monotone_penalty/l mc_penalty/l ms_penalty/l monotone_splits_penalty/l = 0 -> there is no penalty on monotone splits
min_node_size/o nodesize/o min_samples_split/o minsplit/o min_weight_fraction_leaf/o -> `min_data_in_leaf` is the least
  number of rows in a child
maxnodes/o -> `max_leaves` is the largest number of leaves of a tree
always_split_variables/o split_select_weights/o regularization_factor/o -> `feature_weights` is the weight by
  which `colsample_*` draws them
max_features/o; col_sample_rate/o = 1 -> `colsample_bynode` is the share of the features that a split may use
min_split_improvement/o min_impurity_decrease/o ccp_alpha/o cp/o -> `gamma` is the least gain of a split
updater/x = "grow_quantile_histmaker" "grow_histmaker" -> there is one way to grow trees, by histograms
process_type/x = "default"; refresh_leaf/x refit_decay_rate/l; refit/o = FALSE -> existing trees cannot be updated;
  `init_model` continues a model, gbt_refit() trains a new one
[train: categories]
contrasts/o xlev/o one_hot/o dummy/o -> factors are split by sets of their levels, and need no contrasts
enable_categorical/x = TRUE -> factor columns are always taken as they are
respect_unordered_factors/o = TRUE -> factors are split by sets of their levels, ordered ones by their order
simple_ctr/c combinations_ctr/c per_feature_ctr/c ctr_description/c ctr_target_border_count/c -> statistics of columns
  are chosen by `cat_method`, their combinations by `max_cat_combine`, and their prior and bins by `cat_prior` and
  `cat_bins`
counter_calc_method/c = "SkipTest" -> levels are counted in the training rows only
ctr_leaf_count_limit/c -> `max_cat_keys` bounds the combinations of levels that a model keeps; the rarest are left out
store_all_simple_ctr/c = FALSE -> a model keeps the statistics that its trees use
ctr_history_unit/c = "Sample" -> without `group` every row is a step of its own; with it a group is
final_ctr_computation_mode/c = "Default" -> a model always keeps the statistics that it predicts with
fold_len_multiplier/c = 2 -> statistics are those of all rows before; models of ordered boosting have twice the rows
  of the one before
fold_permutation_block/c = 1 -> orders are drawn of single rows
gpu_cat_features_storage/c -> there is nothing to choose about how a device is used, see `device`
has_time/c = FALSE -> give the order of the rows itself: `time`, a number, date or time for every row
categorical_encoding/o = "AUTO" "Enum" -> ways to treat categorical columns are named by `cat_method`
approx_on_full_history/c = FALSE -> scores of ordered boosting come from models of at least half of the rows before
text_features/c embedding_features/c text_processing/c tokenizers/c dictionaries/c feature_calcers/c -> texts are
  taken as categories; make numbers of long texts and embeddings first
[train: binning and missing values]
na_action/o na_rm/o na_remove/o = FALSE -> missing values are used as they are; with a formula `na.action` is a
  function, such as na.omit
standardize/o normalize/o standardise/o scale/o center/o preprocess/o preProcess/o pre_process/o = FALSE -> trees need
  no scaled numbers
histogram_type/o = "AUTO" -> cuts are at ranks of the column; `max_bin` is their number
missing/x = NA -> NA and NaN are missing; set other codes to NA in the data first
use_missing/l = TRUE; nan_mode/c -> missing values always get a direction of their own
zero_as_missing/l = FALSE -> use `sparse_zero = "missing"` for a sparse matrix, or set zeros to NA
max_bin_by_feature/l per_float_feature_quantization/c -> there is one `max_bin` for all features
min_data_in_bin/l -> cuts are exact; use `max_bin` for fewer bins
bin_construct_sample_cnt/l subsample_for_bin/l -> cuts come from all rows
sketch_eps/x -> cuts are exact; use `max_bin`
feature_border_type/c = "Median" -> cuts are at ranks of the column
input_borders/c output_borders/c -> cuts are not read or written; gbt_data(reference = ) takes those of other data
enable_bundle/l is_enable_bundle/l bundle/l = TRUE; dev_efb_max_buckets/c -> exclusive sparse columns are always
  bundled, models do not depend on it
sparse_features_conflict_fraction/c = 0 -> only columns that never meet are bundled, models do not depend on it
is_enable_sparse/l is_sparse/l enable_sparse/l sparse/l = TRUE -> sparse matrices are always taken as they are
feature_pre_filter/l = TRUE FALSE -> columns without a split are never used anyway
use_quantized_grad/l = FALSE; num_grad_quant_bins/l quant_train_renew_leaf/l stochastic_rounding/l -> gradients have
  16 or 32 bits in histograms, see `grad_bits`
[train: metrics and early stopping]
xtest/o ytest/o x_val/o y_val/o -> `valid = list(x = , y = )` is evaluated after each round
validation_split/o holdout/o test_size/o -> use `valid`: the share of rows to hold out
score_each_iteration/o = TRUE; score_tree_interval/o = 1 -> metrics are evaluated after every round
fold_assignment/o trControl/o tr_control/o train_control/o resampling/o -> gbt_cv() cross-validates: gbt_cv(x, y,
  folds = 5)
keep_cross_validation_models/o = FALSE -> gbt_cv(keep_models = TRUE) keeps the model of each fold
keep_cross_validation_predictions/o keep_cross_validation_fold_assignment/o = FALSE -> gbt_cv() always returns the
  predictions of held-out rows, as `predictions`
tuneGrid/o tune_grid/o tuneLength/o tune_length/o param_grid/o hyper_params/o -> gbt_tune() searches parameters:
  gbt_tune(x, y, configs = 30)
calibrate_model/o calibration_frame/o calibration_method/o = FALSE -> gbt_calibrate(model, data) calibrates
use_best_model/c -> with `early_stopping_rounds` a model predicts with its best round, without it with all;
  predict(model, trees = length(model)) takes all
best_model_min_trees/c = 0 1 -> the best round is the best of all rounds
eval_fraction/c = 0 -> use `valid`: the share of rows to hold out
od_type/c = "Iter"; od_pval/c = 0 -> early stopping counts rounds: `early_stopping_rounds`
first_metric_only/l -> the last metric of `eval_metric` is the one that is watched; give only that one
disable_default_eval_metric/x -> without `eval_metric` the objective's metric is evaluated where `valid` is given
stopping_tolerance/o -> `early_stopping_min_delta` is the least improvement, in units of the metric
maximize/x maximise/x -> the direction of a metric is known; for your own give gbt_metric(maximise = )
feval/x -> give your own metric as `eval_metric = gbt_metric(name, fun)`
fobj/o -> give your own objective as `objective = list(gradient = , hessian = )`
multi_error_top_k/l = 1 -> give it with the metric: eval_metric = "top_error@k"
auc_mu_weights/l -> this form of the metric is not offered; give a gbt_metric()
nfold/xlc nfolds/o cv_folds/o fold_count/c = 0 -> gbt_cv() cross-validates: gbt_cv(x, y, folds = 5)
folds/xlc fold_column/o -> gbt_cv(folds = ) takes a number of folds, or the fold of each row
train_folds/x inverted/c -> gbt_cv(folds = ) takes a list of the rows that each fold holds out
stratified/xlc -> gbt_cv() draws folds by classes; gbt_cv(stratify = ) changes that
showsd/xl -> gbt_cv() always gives standard errors of the means over folds
partition_random_seed/c -> `seed` decides how gbt_cv() draws folds
shuffle/xc -> gbt_cv() draws rows for its folds by `seed`; give folds of your own as gbt_cv(folds = )
return_models/c = FALSE -> gbt_cv(keep_models = TRUE) keeps the model of each fold
prediction/x = FALSE -> gbt_cv() always returns the predictions of held-out rows, as `predictions`
interval se_fit = FALSE -> predict(gbt_conformal(model, data), newdata, level = 0.9) gives prediction intervals
subset/o -> without a formula give those rows of x and y, or a `mask`
train_fraction/o = 1; validation_fraction/o -> use `valid`: the share of rows to hold out
[train: devices, machines, memory]
gpu_id/x gpu_device_id/l; gpu_platform_id/l = 0 -1 -> the number of the device is part of `device`: "cuda:1"
num_gpu/l n_gpus/x = 1 -> `devices` says which GPUs train together: "all", or their numbers
gpu_ram_part/c -> `device_memory` bounds what a device gives, in megabytes
pinned_memory_size/c used_ram_limit/c device_config/c -> `hist_memory` and `device_memory` bound memory, in megabytes
max_cached_hist_node/x -> `hist_memory` bounds the memory of histograms, in megabytes
use_rmm/x extmem_single_page/x debug_synchronize/x fail_on_invalid_gpu_id/x = FALSE -> there is nothing to choose
  about how a device is used, see `device`
predictor/x = "auto" -> `device` says where to train, and in predict() where to predict
gpu_use_dp/l force_col_wise/l force_row_wise/l single_precision_histogram/x = TRUE FALSE;
  dev_score_calc_obj_block_size/c data_partition/c -> results never depend on threads or memory layout, so there is
  nothing to choose
deterministic/l = TRUE -> results are always the same to the last bit
tree_learner/l tree/l tree_type/l tree_learner_type/l = "serial"; num_machines/l num_machine/l = 1; machines/l
  workers/l nodes/l machine_list_filename/l machine_list_file/l machine_list/l mlist/l local_listen_port/l
  local_port/l port/l time_out/l pre_partition/l is_pre_partition/l top_k/xl topk/l -> a training runs on one machine
[train: files and what is printed]
do_trace/o trace/o = FALSE 0 -> `verbose = 1` writes lines of the log
snapshot_file/c; save_period/xl = -1; snapshot_freq/l = -1 0; save_snapshot/c = FALSE -> `checkpoint` names a folder
  with what a training needs to go on; see also gbt_cb_record()
allow_writing_files/c = FALSE; train_dir/c -> files are written only where `checkpoint` asks for them
save_name/xl output_model/l model_out/l model_output/l -> gbt_save(model, file) writes a model
save_binary/l is_save_binary/l is_save_binary_file/l = FALSE -> gbt_data(x, path = ) writes binned data to a folder
convert_model/l convert_model_file/l convert_model_language/l saved_feature_importance_type/l -> as.data.frame(model)
  gives all nodes
config/l config_file/l parser_config_file/l -> parameters are not read from a file; give a list, `params`
header/l has_header/lc delimiter/c two_round/l two_round_loading/l use_two_round_loading/l precise_float_parser/l
  column_description/c -> gbt_data(gbt_files()) reads data from CSV files
silent/xc quiet/o -> `verbose = 0`, the default, is silence; `verbose = 1` writes lines of the log
logging_level/c -> `verbose = 0`, the default, is silence; `verbose = 1` writes lines of the log
verbose_eval/xc -> `verbose = 0`, the default, is silence; `verbose = 1` writes lines of the log, one in
  `verbose_every` rounds
monitor_training/x = FALSE -> `eval_train = TRUE` evaluates the training data
metric_update_interval/c metadata/c name/c graph/c pool/c -> there is nothing like it; gbt_parameters() lists the
  parameters
callback/c -> functions to call after every round are `callbacks`
plot/c plot_file/c = FALSE -> plot(model) draws the log of a model
[train: what is given elsewhere]
keep_forest/o write_forest/o = TRUE -> a model always keeps its trees
local_importance/o localImp/o localimp/o scale_permutation_importance/o importance_type/o = FALSE ->
  gbt_importance(model) gives importance, gbt_shap(model, newdata) that of each row
save_memory/o = FALSE TRUE -> `hist_memory` bounds the memory of histograms, in megabytes
build_tree_one_node/o = TRUE -> a training runs on one machine
model_id/o -> assign the model to a variable; gbt_save(model, file) writes it
model/o = FALSE -> a model never keeps the training data; `init_model` continues from a model
control/o controls/o -> give the parameters by name, or a list of them: `params`
newdata/o newx/o new_data/o -> `valid` has data to evaluate while training; predict(model, newdata) predicts
x/o X/o formula/o training_frame/o dtrain/o dataset/o x_train/o X_train/o train_set/o training_data/o -> the data
  are the first argument: gbt_train(x, y), or gbt_train(y ~ ., data) with a formula
target/o targets/o labels/o response/o outcome/o response_column/o target_column/o dependent_variable_name/o ytrain/o
  y_train/o Y/o -> the response is the second argument, or the left side of the formula
singular_ok/o = TRUE FALSE -> columns may depend on each other
label/xl y/c response_name/o label_column/l -> the response is the second argument, or the left side of the formula
ignored_features/c ignore_column/l ignore_feature/l blacklist/l feature_names/x feature_types/x colnames/xl -> names
  and types of columns are those of the data; leave columns out there, or by y ~ . - column
weights_column/o weight_column/l -> give the weights themselves; with a formula, `weights = column`
offset_column/o -> give the offset itself; with a formula, `offset = column`
data/xl train/l train_data/l train_data_file/l data_filename/l learn_pool/c -> the data are the first argument:
  gbt_train(x, y), or the second after a formula
reference/l -> gbt_data(reference = ) makes data with the cuts of other data
keep_data/o = FALSE; free_raw_data/l = TRUE; reset_data/l -> a model never keeps the training data
record/l = TRUE -> the log is always kept: model$evaluation_log
serializable/l = TRUE -> a model can always be saved
validate_parameters/x = TRUE -> parameters are always checked
task/l = "train" -> gbt_train() trains; predict() predicts
lr/o -> the learning rate is `eta`
importance/o = "none" FALSE -> gbt_importance(model) gives it afterwards
probability/o = TRUE -> a factor response gives probabilities; predict(type = "class") gives classes
predict_raw_score/l predict_rawscore/l is_predict_raw_score/l raw_score/l predict_leaf_index/l is_predict_leaf_index/l
  leaf_index/l predict_contrib/l is_predict_contrib/l contrib/l pred_early_stop/l predict_disable_shape_check/l =
  FALSE; pred_early_stop_freq/l pred_early_stop_margin/l output_result/l predict_result/l prediction_result/l
  predict_name/l prediction_name/l pred_name/l name_pred/l prediction_type/o -> it belongs to predict(model, newdata)
num_iteration_predict/l start_iteration_predict/l ntree_limit/x -> predict(trees = ) is the number of rounds to use
[predict]
ntree_limit/x ntreelimit/x best_iteration/o best_ntreelimit/x iteration_range/x iterationrange/x n_trees/o
  num_iteration/l start_iteration/l num_trees/o ntree_end/c nrounds ntree/o ntrees/o -> `trees` is the number of rounds
  to use, from the first
outputmargin/x rawscore/l raw_score/l margin/o output_margin/x raw/o -> raw scores are type = "link"
prediction_type/c output_type/o kind/o output_kind/o predict_type/o -> it is `type` here
predleaf/xl pred_leaf/xl -> leaves are type = "leaf"
predcontrib/xl pred_contrib/xl approxcontrib/x predinteraction/x pred_interact/x -> contributions of columns (SHAP
  values) are type = "contrib", their interactions type = "interaction"
data/xlco x/o newx/o new_data/o test/o test_data/o -> the rows to predict are `newdata`
nthread/x nthreads/x num_threads/lo n_jobs/xl thread_count/c -> the number of threads is `threads`
probability/o prob/o probabilities/o -> probabilities are type = "prob"
class/o classes/o -> classes are type = "class"
se_fit/o se/o interval/o intervals/o interval_type/o conf_int/o confidence/o coverage/o alpha/o ->
  predict(gbt_conformal(model, data), newdata, level = 0.9) gives prediction intervals, see ?gbt_conformal
what/o quantiles/o quantile/o -> train a model with objective = "quantile" and all levels in `quantile_alpha`;
  type = "quantile" with `probs` selects some of them, and gbt_conformal() makes prediction intervals
proximity/o -> gbt_neighbours() finds the training rows that are most similar to new rows
predict_all/o individual/o -> the leaf of each tree is type = "leaf", and `trees` uses only the first rounds
threshold/o treshold/o cutoff/o cut/o -> "class" is the class of the largest probability; for another limit compare
  type = "prob" with it
na_action/o -> rows with missing values are predicted as they are
seed/o -> predictions draw nothing at random
validate_features/x strict_shape/x verbose/o -> there is nothing to choose: columns are always checked
reshape/x -> more than two classes always give a matrix with a column for each
missing/x -> NA and NaN are missing; set other codes to NA in the data first
base_margin/x -> a known part of the score is `offset`
[objective]
^binary:logitraw$/x -> use "logistic" and predict(type = "link")
^binary:hinge$/x ^adaboost$/o ^huberized$/o ^focal/c -> "logistic" is for two classes
^quasibinomial$/o ^cross_entropy_lambda$/l ^xentlambda$/l -> "logistic" takes shares from 0 to 1
^multiclassova$/l ^multiclass_ova$/l ^multiclassonevsall$/c ^ova$/l ^ovr$/l -> "softmax" is for several classes
^rank$/o ^ranking$/o ^lambda-(rank|mart)/lo ^listwise$/o ^(lambda)?ndcg$/o ^stochasticrank/c ^stochasticfilter/c ->
  "rank_ndcg" is for ranking
^yetirankpairwise/c -> "yeti_rank" is for ranking
^pairlogitpairwise/c -> "pair_logit" is for ranking
^querycrossentropy/c -> "query_softmax" is for ranking
^survival$/o ^censored/o ^time_to_event$/o -> @survival
^weibull$/o ^loglogistic$/o -> "aft" with `aft_dist` is for times
^multilabel/o ^multioutput/o -> leave `objective` out and give the response as a matrix with a column for each label
^loglinquantile/c -> "quantile" is for quantiles
^classif/o ^class$/o ^binary_classification$/o ^multi_?class_classification$/o -> leave `objective` out: a factor
  response gives classes
^quasipoisson$/o -> "poisson" gives the same predictions
^inverse[._]gaussian$/o -> "gamma" is for amounts above 0
^lognormal$/o -> train on the logarithm of the response: gbt_train(x, log(y))
^ordinal/o ^polr$/o ^ordered/o ^clm$/o -> "softmax" is for classes; or train on their numbers, as.integer(y)
^zero_?inflated_?neg/o ^zinb/o ^hurdle/o -> "dist_zip", "negative_binomial" and "tweedie" are for many zeros
^auc$/o ^accuracy$/o ^f1$/o ^error$/o -> it is a metric, which `eval_metric` takes; "logistic" is for two classes
^reg:/x ^fair$/l ^tdist/o ^lq/c ->
[metric]
smape/c -> mape
medianabsoluteerror/c lq/c -> mae
loglinquantile/c -> quantile
zerooneloss/c hammingloss/c -> error merror accuracy
balancederrorrate/c -> balanced_accuracy
totalf1/c -> f1
kappa/c wkappa/c -> mcc
hingeloss/c -> logloss mlogloss
kullback_leibler/l cross_entropy_lambda/l -> logloss
auc_mu/l multiclassonevsall/c -> mlogloss
aucpr/x -> pr_auc
poisson-nloglik/x -> poisson_nloglik
deviance/o -> poisson_deviance gamma_deviance tweedie_deviance negative_binomial_deviance logloss mlogloss mse
pfound/c -> err
queryrmse/c pairlogit/c yetirank/c -> pair_accuracy ndcg
interval-regression-accuracy/x roc_auc_survival/o -> concordance uno_c brier_survival ibs
sensitivity/o sens/o specificity/o spec/o tpr/o fpr/o ppv/o npv/o -> f1 balanced_accuracy
f1_macro/o macro_f1/o f1_weighted/o -> f1
neg_log_loss/o neg_logloss/o -> logloss mlogloss
ks/o lift/o gains/o -> auc gini
aic/o bic/o ->
rsq/o -> r2
roc/o auroc/o -> auc
[objective parameter]
tweedie_variance_power/xl variance_power/co tweedie_power -> tweedie_variance_power
huber_slope/x delta/c alpha/l -> huber_delta
aft_loss_distribution/x dist/o -> aft_dist
aft_loss_distribution_scale/x -> aft_scale
expectile_alpha/x alpha/c -> expectile_alpha
quantile_alpha/x alpha/lc -> quantile_alpha
rank_top lambdarank_truncation_level/l lambdarank_num_pair_per_sample/x max_rank/o -> rank_top
rank_pairs -> rank_pairs
rank_norm lambdarank_norm/l lambdarank_normalization/x -> rank_norm
rank_score_norm lambdarank_score_normalization/x -> rank_score_norm
rank_linear_gain -> rank_linear_gain
position_reg lambdarank_position_bias_regularization/l -> position_reg
position_bias -> position_bias
bias_norm lambdarank_bias_norm/x -> bias_norm
yeti_permutations permutations/c -> yeti_permutations
yeti_decay decay/c -> yeti_decay
[metric parameter]
alpha/c -> quantile expectile
smoothness/c -> fair
variance_power/c -> tweedie_nloglik tweedie_deviance
proba_border/c -> balanced_accuracy f1 mcc accuracy
top/c -> ndcg dcg map mrr err precision recall
)---"

# By columns: verb, topic, name, packages, reply; same: a list of the accepted values.
read_foreign <- function(text) {
  lines <- strsplit(gsub("\n  ", " ", text), "\n", fixed = TRUE)[[1L]]
  lines <- lines[nzchar(lines)]
  heading <- startsWith(lines, "[")
  section <- gsub("^\\[|\\]$", "", lines[heading])[cumsum(heading)]
  rows <- lapply(which(!heading), function(i) {
    reply <- trimws(sub("^.*? ->", "", lines[i], perl = TRUE))
    heads <- strsplit(sub(" ->.*$", "", lines[i]), "; ", fixed = TRUE)[[1L]]
    lapply(strsplit(heads, " = ", fixed = TRUE), function(head) {
      names <- words_of(head[1L])
      same <- lapply(if (length(head) > 1L) words_of(head[2L]), function(value) eval(str2lang(value)))
      list(verb = sub(":.*$", "", section[i]), topic = sub("^[^:]*:? ?", "", section[i]), name = sub("/.*$", "", names),
           packages = ifelse(grepl("/", names), sub("^.*/", "", names), ""), reply = reply,
           same = rep(list(same), length(names)))
    })
  })
  rows <- unlist(rows, recursive = FALSE)
  column <- function(field) unlist(lapply(rows, function(row) rep_len(row[[field]], length(row$name))), FALSE)
  lapply(stats::setNames(nm = names(rows[[1L]])), column)
}

words_of <- function(text) strsplit(text, " +")[[1L]]

foreign_names <- read_foreign(foreign_text)

# The row of a name that was typed, as a list; NULL where there is none. absent: does it ask for something that
# R/arg_not_offered.R lists?
find_foreign <- function(verb, typed) {
  typed <- printable(typed)
  rows <- which(foreign_names$verb == verb)
  name <- foreign_names$name[rows]
  found <- name %in% gsub(".", "_", typed, fixed = TRUE)
  pattern <- startsWith(name, "^")
  found[pattern] <- vapply(name[pattern], grepl, NA, x = typed)
  if (!any(found)) return(NULL)
  row <- lapply(foreign_names, .subset2, rows[found][1L])
  row$absent <- startsWith(row$reply, "@")
  row$reply <- reply_text(row$reply)
  row
}

# Every name of a parameter -> ours. Ours come first.
alias_of <- local({
  ours <- foreign_names$verb == "train" & !grepl("[ @]", foreign_names$reply)
  all <- stats::setNames(foreign_names$reply[ours], foreign_names$name[ours])
  all[order(names(all) != all)]
})
argument_names <- unique(unname(alias_of))

# The parameter that a typed name means; NA when unknown. Dots and underscores are the same.
canonical_name <- function(typed) {
  typed <- as.character(typed) # no names: NULL
  hit <- unname(alias_of[typed])
  dotted <- is.na(hit)
  plain <- gsub(".", "_", printable(typed[dotted]), fixed = TRUE)
  hit[dotted] <- unname(alias_of[plain])
  if (anyNA(hit)) hit[dotted] <- ifelse(is.na(hit[dotted]), unname(objective_params()[plain]), hit[dotted])
  hit
}

# Is a refused name accepted, whose value asks for what gbt does anyway? value: its own; given: the arguments that are
# ours, by our names, read by [[: $ would take `verbose_every` for `verbose`.
asks_for_usual <- local({
  draws_anew <- function(value, given) {
    is_same(value, 1) || (is_same(value, 0) && is_same(given_or(given[["subsample"]], 1), 1))
  }
  device_number <- function(value, given) {
    number <- sub("^(cuda|gpu):", "", if (is.character(given[["device"]])) given[["device"]][1L])
    number <- if (length(number) == 1L && grepl("^[0-9]{1,4}$", number)) as.integer(number) else 0L
    is_same(value, number) || is_same(value, format(number)) || (number == 0L && is_same(value, -1))
  }
  talks <- function(given) {
    verbose <- given[["verbose"]]
    !is.null(verbose) && !is_zero_or_false(verbose) && !is_same(verbose, -1)
  }
  silent <- function(value, given) if (talks(given)) is_zero_or_false(value) else is_one_or_true(value)
  list(
    bagging_freq = draws_anew, subsample_freq = draws_anew,
    leaf_estimation_backtracking = function(value, given) {
      one_step <- is_same(given_or(given[["leaf_iterations"]], 1), 1)
      is_same(value, "AnyImprovement") || (is_same(value, "No") && one_step)
    },
    use_best_model = function(value, given) is_same(value, is_positive_count(given[["early_stopping_rounds"]])),
    first_metric_only = function(value, given) {
      watches <- is_positive_count(given[["early_stopping_rounds"]])
      is_flag(value) && (!watches || length(as_metric_list(given[["eval_metric"]])) <= 1L)
    },
    disable_default_eval_metric = function(value, given) {
      evaluates <- !is.null(given[["valid"]]) || is_same(given[["eval_train"]], TRUE)
      is_zero_or_false(value) || (is_one_or_true(value) && (!is.null(given[["eval_metric"]]) || !evaluates))
    },
    gpu_id = device_number, gpu_device_id = device_number,
    silent = silent, quiet = silent,
    logging_level = function(value, given) is_same(value, if (talks(given)) "Verbose" else "Silent"),
    verbose_eval = function(value, given) if (talks(given)) is_same(value, TRUE) else is_zero_or_false(value)
  )
})

# A name that is not ours: accepted when it asks for what happens anyway, else an error. given: all that is ours.
refuse_name <- function(typed, value = NULL, given = list()) {
  known <- find_foreign("train", typed)
  if (is.null(known)) {
    near <- suggest_parameter(typed)
    end <- if (nzchar(near)) " gbt_parameters() lists all" else "; gbt_parameters() lists all"
    stop_argument(sprintf("unknown parameter `%s`%s%s", typed, near, end), typed)
  }
  usual <- asks_for_usual[[known$name]]
  accepted <- if (is.null(usual)) any(vapply(known$same, is_same, NA, value = value)) else usual(value, given)
  if (!accepted) stop_unsupported(sprintf("gbt has no `%s`: %s", typed, known$reply), typed)
}

# As suggest(), among the names of parameters. A name of another package is shown with the name that gbt has for it.
suggest_parameter <- function(typed) {
  near <- nearest_name(gsub(".", "_", typed, fixed = TRUE), c(names(alias_of), names(objective_params())))
  if (length(near) == 0L) return("")
  ours <- canonical_name(near)
  kept <- !duplicated(ours)
  shown <- paste0("`", near, "`", ifelse(near == ours, "", sprintf(" (here `%s`)", ours)))[kept]
  sprintf("; did you mean %s?", paste(shown, collapse = " or "))
}

# Arguments of other packages' predict(): what to say instead.
refuse_foreign <- function(given) {
  for (name in given) {
    known <- find_foreign("predict", name)
    if (!is.null(known)) stop_argument(sprintf("predict() has no `%s`: %s", name, known$reply), name)
  }
}
