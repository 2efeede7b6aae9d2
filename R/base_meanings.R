# Words with the same meaning: what users of other packages type for arguments and values of gbt's functions. Names of
# training parameters have a table of their own, with the packages that use them: R/arg_foreign.R.

# Each line is a meaning. A word that a function does not know is taken for the first word of its line that the function
# does know. Case, dots and underscores do not count. A word may be in several lines: the first line that helps decides.
meaning_text <- "
newdata x data new_data newx test test_data frame df dataset
background reference background_data bg bg_X X_bg baseline train train_data X_train
newdata x data train train_data training_frame X_train
y label labels response target outcome observed truth obs actual y_true
predicted pred preds prediction predictions estimate score scores probability prob p y_pred y_score .pred
against column columns feature features variable var xvar x_var v varname column_name feature_name
columns column feature features variable variables var vars pred_var i_var x_var varname predictor predictors
  feature_names feature_name xvar terms by
values at grid pred_grid pred_data grid_values
size grid_resolution grid_size n_points npoints n_grid resolution length_out
type kind which what output output_type prediction_type predict_type importance_type importance_measure method measure
  statistic plot_type
metrics metric eval_metric measure measures scoring loss loss_function perf_metric
metric loss loss_function measure scoring eval_metric
trees ntree n_trees num_trees nrounds rounds ntree_limit ntreelimit iteration_range iterationrange best_iteration
  best_ntreelimit num_iteration start_iteration n_estimators iteration iterations nround best_tree
tree trees i_tree tree_index tree_idx index num_trees tree_number n_tree number k_tree k which tree_id
depth max_depth maxdepth levels
top top_n n n_top k top_k n_max max_display max_num_features num_features n_features n_vars n_var ntop max_features
  number max_vars numvar nmax
weights weight case_weights sample_weight sample_weights wt wts w
weight weights case_weights sample_weight sample_weights wt wts w
threads nthread nthreads num_threads n_jobs thread_count n_cores cores ncores thread n_thread parallel workers
seed random_state random_seed set_seed
level conf_level confidence confidence_level conf coverage alpha prob conf_int interval intervals
intervals conf_level confidence confidence_level conf level alpha ci conf_int interval
replicates n_boot nboot bootstrap b boot n_bootstrap resamples n_resamples times nsim
repeats n_repeats nperm nsim n_perm permutations n_permutations num_permutations times repeat b replicates nrep
repeats repeated reps number_of_repeats repetitions
by group_by by_group groups strata subgroup subset_by facet
folds k v n_splits cv fold resampling resample nfold nfolds fold_id foldid fold_index folds_index trcontrol
stratify strata stratified stratification
keep_models return_models keep_pred save_pred save_models return_cvbooster models keep
configs trials n_trials n_iter iter n_iterations max_evals n_evals evals tunelength size budget n grid_size n_configs
  candidates
space grid tunegrid param_grid param_distributions search_space hyper_params hyperparameters param_info search bounds
  param_space params_grid domain
seconds max_time timeout time_limit max_runtime_secs max_runtime time_budget budget
method algorithm search search_type strategy sampler tuner
ice individual kind
centred center centre centered
scale normalise normalize
bins n_bins nbins breaks cuts n_groups num_bins groups buckets
path file filename folder dir directory store output_file output fname store_path disk
file path filename fname output_file output con connection model_file destination dest filepath
files path file paths filename filenames pattern input
sep delim delimiter separator
na na_strings na_values null_strings missing
quote quotes quote_char
encoding locale fileencoding
statement sql query table
columns column cols col select usecols use_columns
texts text strings string characters character colclasses col_types column_types
group queries query qid query_id
effects n_effects top n_top
connection con conn db x
label y response target outcome
params parameters bind
chunk_rows chunk_size batch_size chunk n_rows nrows
block_bytes chunk_size batch_size chunk block_size
cat_features categorical_feature categorical_features categorical cat_cols
nrounds rounds nround n_rounds iterations n_trees ntree
data newdata x new_data
object model fit mod learner booster
model object fit mod explainer learner booster gbm xgb
k n_neighbors n_neighbours neighbors neighbours nn num_neighbors
rows n sample_size n_sample nsample max_rows n_samples subsample sample n_rows nsim
interaction interactions predinteraction pred_interact
sd se std std_error
xlab x_label x_lab xlabel
ylab y_label y_lab ylabel
main title
sub subtitle
col color colour colors colours palette fill
xlim x_limits
ylim y_limits
against color_by color_var colour_by color_feature interaction_index by
row rows i row_id index observation
column columns feature v variable features xvar
title main heading
overwrite force replace
model_every every
maximise maximize higher_is_better greater_is_better is_higher_better direction
fun f func func_ function metric_fun feval
digits signif round
quiet verbose silent
timeout max_time seconds
margin threshold delta tolerance min_improvement
response numeric raw resp mean fitted vector risk hazard_ratio
link margin raw raw_score rawscore outputmargin untransformed score logit linear_predictor decision_function lp
prob probability probabilities probs posterior p vote
class classes label labels predicted_class majority
leaf leaves node nodes terminalnodes terminal_nodes leaf_index predleaf nodes_id
contrib contribution contributions shap shap_values terms treeshap predcontrib
interaction interactions shap_interactions
gain total_gain impurity improvement relative_influence prediction_values_change predictionvalueschange
  impurity_corrected meandecreasegini incnodepurity
frequency split weight count splits n_splits
cover total_cover coverage
permutation permute perm pfi loss_function_change lossfunctionchange meandecreaseaccuracy incmse permutations
shap mean_shap shap_values mean_abs_shap
calibration reliability calib calibration_curve
roc auc roc_curve rocauc
pr prauc pr_auc precision_recall precisionrecall pr_curve
gains gain cumulative cumulative_gains lorenz
lift lift_curve
quantile quantiles percentiles median
survival surv survprob survivor survival_function
cumhaz cumulative_hazard chf hazard hazards
time rmst restricted_mean expected_time survival_time times mean_time
cif incidence cumulative_incidence cuminc
even uniform equal equidistant linear
isotonic iso isotonic_regression
platt sigmoid logistic scaling
random grid randomized random_search grid_search
halving hyperband successive_halving racing race sha asha
bayesian bayes bayes_opt bayesian_optimization tpe bo gp mbo
recursion brute weighted_tree_traversal tree
absolute split residual
type prob probability
grid quantiles
"

meanings <- local({
  lines <- strsplit(gsub("\n  ", " ", trimws(meaning_text)), "\n", fixed = TRUE)[[1L]]
  lapply(strsplit(lines, " +"), function(words) gsub("[^a-z0-9]", "", tolower(words)))
})

# The choice that means the same as a word that is none of them; NULL where none is known.
same_meaning <- function(x, choices) {
  if (!is_text(x)) return(NULL)
  plain <- function(s) gsub("[^a-z0-9]", "", lower_case(s))
  typed <- plain(x)
  its <- plain(choices)
  if (typed %in% its) return(choices[match(typed, its)])
  for (words in meanings) {
    at <- if (typed %in% words) match(words, its, 0L)
    if (any(at > 0L)) return(choices[at[at > 0L][1L]])
  }
}

# As suggest(), for names of arguments and for values out of a fixed list, which have meanings. Names of columns and
# levels are the user's, so that suggest() compares only their letters.
suggest_meaning <- function(x, choices, quote = "`") {
  same <- same_meaning(x, choices)
  if (is.null(same)) suggest(x, choices, quote) else sprintf("; did you mean %s%s%s?", quote, same, quote)
}
