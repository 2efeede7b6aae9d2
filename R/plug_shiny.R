# The Shiny module around R/verb_refresh.R.

#' A Shiny module that refreshes a model
#'
#' A panel for Shiny apps that trains a live model again. It has a button to start, a progress bar, the log as it grows,
#' a button to cancel, a summary of the model, and a way back. Training runs in a process of its own ([gbt_job()]), so
#' the app stays usable. The new model takes the place of the live one only when it is not worse on held-out rows, in
#' one step ([gbt_save()]): A process that reads the file gets the old model or the new one. All sessions of the app see
#' the new one within a second. `shiny::runApp(system.file("shiny/refresh", package = "gbt"))` runs an example.
#'
#' @section Which model is live:
#' The challenger is compared with the champion, the live model, on the held-out rows, row by row, by the loss of the
#' objective (log loss for classes, squared error, a deviance, ...), with the rows' weights, offsets and exposures. An
#' objective of your own has no such loss: models are compared by the last of `eval_metric`, which must be given, and
#' the interval is that of 200 bootstrap draws. It is promoted when the upper end of the 95 %
#' interval of the mean difference is at most `margin` times the champion's loss. With few held-out rows the interval is
#' wide, so in unclear cases the old model stays live. A button promotes a challenger that was held back anyway. The
#' newest `history` replaced models are kept in the folder `path` + `.history`, and the panel can go back to any of
#' these. The model that was live is then in the history. A model knows when it was trained and what its loss was:
#' `model$refresh`. While the file cannot be read, the panel says so, and the model that was read before stays live.
#'
#' Champion and challenger should both not have seen the held-out rows: give newer ones, or data in the order of time
#' and a share.
#'
#' @param id The name of the module, the same for both.
#' @param title Heading of the panel.
#' @param formula The formula of [gbt_train()].
#' @param data A data frame, or a function (a reactive) that returns one and is called when a refresh begins.
#' @param path File of the live model; there need not be one yet. The model is trusted: its formula may call any
#'   function, see [gbt_load()].
#' @param ... Further arguments of [gbt_train()], such as `nrounds`, `valid`, `early_stopping_rounds`. With
#'   `eval_train = TRUE` or `valid` there is a log to draw. `weights`, `offset` and `exposure` are columns, or
#'   expressions of such, since the held-out rows need theirs as well: `weights = quote(w)`, `exposure = quote(time)`.
#' @param holdout Rows to compare models by, which are not trained on: a data frame, a function (a reactive) that
#'   returns one, or a share: that of the last rows of `data`.
#' @param margin How much worse a new model may be, as a share of the live one's loss.
#' @param history How many replaced models to keep.
#' @return `gbt_refresh_ui()`: HTML. `gbt_refresh_server()`: a list of two reactives: `model`, the live model (`NULL`
#'   while there is none), and `state`, `"idle"`, `"running"`, `"promoted"`, `"held_back"`, `"cancelled"`, `"failed"` or
#'   `"restored"`.
#' @seealso [gbt_job()], [gbt_monitor()]
#' @examples
#' if (requireNamespace("shiny", quietly = TRUE)) {
#'   file <- tempfile(fileext = ".gbt")
#'   ui <- shiny::fluidPage(gbt_refresh_ui("mpg", "Miles per gallon"))
#'   server <- function(input, output, session) {
#'     live <- gbt_refresh_server("mpg", mpg ~ ., mtcars, file, nrounds = 200, eval_train = TRUE,
#'                                threads = 1)
#'     # live$model() is the model to predict with
#'   }
#'   app <- shiny::shinyApp(ui, server) # print(app) runs it
#' }
#' @name gbt_refresh
NULL

#' @rdname gbt_refresh
#' @export
gbt_refresh_ui <- function(id, title = "Model") {
  if (missing(id)) stop_argument("`id` is missing: give the name of the module", "id")
  if (!is_text(id)) stop_argument(sprintf("`id` must be one text, not %s", quote_value(id)), "id")
  if (!is_text(title)) stop_argument(sprintf("`title` must be one text, not %s", quote_value(title)), "title")
  need_package("shiny", "gbt_refresh_ui()")
  ns <- shiny::NS(id)
  tags <- shiny::tags
  actions <- tags$div(
    class = "gbt-actions", shiny::actionButton(ns("refresh"), "Refresh model", class = "gbt-main"),
    shiny::actionButton(ns("cancel"), "Cancel", class = "gbt-cancel", `aria-disabled` = "true"),
    shiny::actionButton(ns("anyway"), "Use the new model anyway", class = "gbt-anyway", hidden = NA)
  )
  bar <- tags$div(class = "gbt-bar", role = "progressbar", `aria-valuemin` = 0, `aria-valuemax` = 100,
                  `aria-valuenow` = 0, `aria-label` = "training", tags$div())
  history <- tags$div(class = "gbt-history", hidden = NA, shiny::uiOutput(ns("versions")),
                      shiny::actionButton(ns("restore"), "Go back to it"))
  tags$section(
    class = "gbt-refresh", `data-state` = "idle", `aria-label` = title,
    shiny::singleton(tags$head(tags$style(shiny::HTML(refresh_css)), tags$script(shiny::HTML(refresh_js)))),
    tags$header(tags$h2(title), tags$span(id = ns("state"), class = "gbt-badge", state_text("idle"))),
    tags$div(
      class = "gbt-columns",
      tags$div(class = "gbt-card", tags$h3("Live model"), shiny::uiOutput(ns("card")), history),
      tags$div(class = "gbt-card", tags$h3("Training"), actions,
               tags$div(class = "gbt-progress", hidden = NA, bar, tags$p(class = "gbt-quiet")),
               tags$div(role = "status", `aria-live` = "polite", shiny::uiOutput(ns("words"))),
               shiny::plotOutput(ns("log"), height = "240px"))
    )
  )
}

#' @rdname gbt_refresh
#' @export
gbt_refresh_server <- function(id, formula, data, path, ..., holdout = 0.2, margin = 0.02, history = 5) {
  need_package("shiny", "gbt_refresh_server()")
  if (!inherits(formula, "formula")) stop_argument("`formula` must be a formula, such as y ~ .", "formula")
  check_path(path, "path")
  if (!is_number(margin, 0)) stop_argument("`margin` must be a number of 0 or more", "margin")
  history <- check_whole(history, "history", 0, 1000)
  args <- list(...)
  reserved <- intersect(names(args), c("data", "subset", "mask", "fun", "by", "x", "y"))
  if (length(reserved)) {
    stop_argument(sprintf(paste("`%s` cannot be used here: the formula and `data` define the training; leave it",
                                "out"), reserved[1L]),
                  reserved[1L])
  }
  spec <- list(formula = formula, args = args, margin = margin, history = history)
  check_spec(spec)
  hub <- refresh_hub(path, spec)
  value_of <- function(x) if (is.function(x)) x() else x
  shiny::moduleServer(id, function(input, output, session) {
    seen <- refresh_seen(hub, session)
    shiny::observeEvent(input$refresh, {
      # of the user's: whatever it raises is shown in the panel
      try_else(refresh_start(hub, value_of(data), value_of(holdout)), function(e) refresh_failed(hub, e))
      seen$update()
    })
    shiny::observeEvent(input$cancel, {
      refresh_cancel(hub)
      seen$update()
    })
    shiny::observeEvent(input$anyway, {
      if (!is.null(hub$held)) {
        try_else({
          refresh_promote(hub, hub$held)
          hub$message <- "The new model was taken although it had been held back."
          hub$verdict <- NULL
        }, function(e) refresh_failed(hub, e))
      }
      seen$update()
    })
    shiny::observeEvent(input$restore, {
      refresh_restore(hub, input$version)
      seen$update()
    })
    refresh_outputs(output, session, hub, seen)
    list(model = seen$model, state = shiny::reactive(seen$now$state))
  })
}

# The state of the hub as a session knows it: reactives that change when it does, and only then, so that nothing on the
# page is made again without a change. All sessions look at the same hub, and at the file, which other processes may
# replace as well.
refresh_seen <- function(hub, session) {
  now <- shiny::reactiveValues()
  model <- shiny::reactiveVal()
  history <- shiny::reactiveVal()
  stamp <- NULL
  update <- function() {
    refresh_look(hub)
    history(model_history(hub))
    found <- c(as.double(file.mtime(hub$path)), file.size(hub$path), length(model_history(hub)$file))
    if (!is.null(hub$unreadable) || !identical(found, stamp)) { # tried again until it can be read
      stamp <<- found
      model(live_model(hub))
    }
    for (name in c("state", "message", "verdict", "status", "log", "unreadable")) now[[name]] <- hub[[name]]
    now$held <- !is.null(hub$held)
  }
  shiny::isolate(update())
  shiny::observe({
    shiny::invalidateLater(if (hub$state == "running") 250 else 1000, session)
    shiny::isolate(update())
  })
  list(now = now, update = update, history = history, model = shiny::reactive(model()))
}

refresh_outputs <- function(output, session, hub, seen) {
  now <- seen$now
  tags <- shiny::tags
  output$state <- shiny::createRenderFunction(function() panel_state(now, nrow(seen$history()) > 0L))
  output$card <- shiny::renderUI(model_card(seen$model(), hub))
  output$versions <- shiny::renderUI({
    past <- seen$history()
    shiny::selectInput(session$ns("version"), "Earlier models", stats::setNames(past$file, past$label),
                       selectize = FALSE)
  })
  shiny::outputOptions(output, "versions", suspendWhenHidden = FALSE)
  output$words <- shiny::renderUI({
    words <- c(now$verdict$words, now$message, now$unreadable)
    if (length(words)) {
      tags$div(class = paste0("gbt-words gbt-", now$state), role = if (now$state == "failed") "alert",
               lapply(words, tags$p))
    }
  })
  output$log <- shiny::renderPlot(draw_live_log(now$log), res = 96, alt = shiny::reactive(log_as_text(now$log)))
}

# The values that refresh_js shows on elements that stay. past: is there an earlier model?
panel_state <- function(now, past) {
  running <- now$state == "running"
  status <- if (running) now$status
  known <- isTRUE(status$nrounds > 0) && !is.na(status$round)
  list(state = now$state, word = state_text(now$state), running = running, held = now$held, past = past && !running,
       share = if (known) round(100 * status$round / status$nrounds) else 0,
       text = if (!running) "" else if (is.null(status)) "starting" else sub("^running: ", "", status_line(status)))
}

state_text <- function(state) {
  c(idle = "ready", running = "training", promoted = "promoted", held_back = "held back", cancelled = "cancelled",
    failed = "failed", restored = "restored")[[state]]
}

model_card <- function(model, hub) {
  tags <- shiny::tags
  if (is.null(model)) return(tags$p(class = "gbt-quiet", "There is no model yet."))
  its <- if (is.list(model$refresh)) model$refresh
  facts <- list(Trained = trained_at(model, hub$path), Objective = model$objective,
                Rounds = with_commas(rounds_used(model)),
                `Training rows` = if (!is.null(model$n_obs)) with_commas(model$n_obs),
                Features = as.character(length(model$feature_names)))
  if (is_number(its$loss) && is_text(its$metric)) {
    facts[[sprintf("Held-out %s", its$metric)]] <- trimws(formatC(its$loss, digits = 4L, format = "g"))
  }
  facts <- facts[lengths(facts) > 0L]
  tags$dl(lapply(names(facts), function(name) tags$div(tags$dt(name), tags$dd(facts[[name]]))))
}

log_as_text <- function(log) {
  if (length(log) < 2L || !nrow(log)) return("No log yet")
  last <- vapply(unclass(log)[-1L], function(v) format(v[length(v)], digits = 4L), "")
  sprintf("Metrics by round; round %d: %s", log[[1L]][nrow(log)], paste(names(last), last, collapse = ", "))
}

# A line for each metric, on the scale of all of them.
draw_live_log <- function(log) {
  values <- unname(if (length(log) > 1L) unclass(log)[-1L])
  if (!any(is.finite(unlist(values)))) {
    graphics::plot.new()
    graphics::text(0.5, 0.5, "the log appears here during training", col = "#64748b")
    return(invisible())
  }
  old <- graphics::par(mar = c(4, 3, 0.7, 0.5))
  on.exit(graphics::par(old))
  panel <- list(metric = "", round = log[[1L]], sets = names(log)[-1L], values = values)
  draw_figure(log_figure(list(panel), list(), NULL, NULL, "round", NULL))
}

# An output that changes elements of the panel in place. Buttons that cannot be used have `aria-disabled`: `disabled`
# would take the keyboard focus from them. When an element with the focus is hidden, the first button gets it.
refresh_js <- "
(function() {
  function apply(badge, now) {
    var panel = badge.closest('.gbt-refresh');
    function part(name) { return panel.querySelector(name); }
    function usable(name, yes) { part(name).setAttribute('aria-disabled', yes ? 'false' : 'true'); }
    function shown(name, yes) {
      if (!yes && part(name).contains(document.activeElement)) part('.gbt-main').focus();
      part(name).hidden = !yes;
    }
    panel.dataset.state = now.state;
    badge.textContent = now.word;
    usable('.gbt-main', !now.running);
    usable('.gbt-cancel', now.running);
    shown('.gbt-anyway', now.held);
    shown('.gbt-history', now.past);
    shown('.gbt-progress', now.running);
    part('.gbt-bar').setAttribute('aria-valuenow', now.share);
    part('.gbt-bar div').style.width = now.share + '%';
    part('.gbt-progress p').textContent = now.text;
  }
  document.addEventListener('click', function(e) {
    if (!e.target.closest('.gbt-refresh [aria-disabled=true]')) return;
    e.preventDefault();
    e.stopImmediatePropagation();
  }, true);
  var binding = new Shiny.OutputBinding();
  binding.find = function(scope) { return $(scope).find('.gbt-refresh .gbt-badge'); };
  binding.renderValue = function(badge, now) { if (now) apply(badge, now); };
  Shiny.outputBindings.register(binding, 'gbt.refresh');
})();
"

refresh_css <- "
.gbt-refresh { font-size: 16px; color: #1e293b; max-width: 1200px; margin: 0 auto; padding: 8px 0 }
.gbt-refresh header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; margin-bottom: 16px }
.gbt-refresh h2 { margin: 0; font-size: 26px; font-weight: 600 }
.gbt-refresh h3 { margin: 0 0 12px; font-size: 18px; font-weight: 600 }
.gbt-columns { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 336px), 1fr)) }
.gbt-card { border: 1px solid #e2e8f0; border-radius: 12px; padding: 20px; background: #fff; min-width: 0;
  box-shadow: 0 1px 3px rgba(15, 23, 42, .08) }
.gbt-card dl { margin: 0 } .gbt-card dl div { display: flex; justify-content: space-between; gap: 16px;
  padding: 6px 0; border-bottom: 1px solid #f1f5f9 }
.gbt-card dt { font-weight: 400; color: #475569 } .gbt-card dd { margin: 0; font-weight: 600; text-align: right;
  overflow-wrap: anywhere }
.gbt-refresh .shiny-plot-output { overflow: hidden } .gbt-refresh .shiny-plot-output img { max-width: 100% }
.gbt-badge { border-radius: 16px; padding: 3px 13px; font-size: 14px; font-weight: 600; background: #e2e8f0;
  color: #334155 }
[data-state=running] .gbt-badge { background: #dbeafe; color: #1e40af }
[data-state=promoted] .gbt-badge, [data-state=restored] .gbt-badge { background: #dcfce7; color: #166534 }
[data-state=held_back] .gbt-badge, [data-state=cancelled] .gbt-badge { background: #fef3c7; color: #92400e }
[data-state=failed] .gbt-badge { background: #fee2e2; color: #991b1b }
.gbt-actions, .gbt-history { display: flex; flex-wrap: wrap; gap: 8px; align-items: flex-end; margin: 8px 0 16px }
.gbt-history { margin: 16px 0 0 } .gbt-history .shiny-html-output { flex: 1 1 192px }
.gbt-history .form-group { margin: 0; width: auto }
.gbt-refresh [hidden] { display: none !important }
.gbt-refresh .recalculating { opacity: 1 }
.gbt-refresh .btn[aria-disabled=true] { opacity: .5; cursor: default }
.gbt-refresh .btn { border-radius: 8px; min-height: 42px; font-size: 16px }
.gbt-refresh .btn:focus-visible { outline: 3px solid #93c5fd; outline-offset: 2px }
.gbt-refresh .gbt-main { background: #1d4ed8; border-color: #1d4ed8; color: #fff }
.gbt-bar { height: 12px; border-radius: 8px; background: #e2e8f0; overflow: hidden }
.gbt-bar div { height: 100%; background: #1d4ed8 }
.gbt-quiet { color: #475569; margin: 8px 0 }
.gbt-words { border-left: 4px solid #94a3b8; background: #f8fafc; padding: 10px 14px; border-radius: 4px;
  margin: 8px 0; overflow-wrap: anywhere }
.gbt-words p { margin: 0; white-space: pre-line }
.gbt-words.gbt-promoted, .gbt-words.gbt-restored { border-color: #16a34a }
.gbt-words.gbt-held_back, .gbt-words.gbt-cancelled { border-color: #d97706 }
.gbt-words.gbt-failed { border-color: #dc2626; background: #fef2f2 }
@media (prefers-reduced-motion: no-preference) { .gbt-bar div { transition: width .25s } }
"
