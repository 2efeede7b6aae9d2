# An app around gbt_refresh_ui() and gbt_refresh_server(): shiny::runApp(system.file("shiny/refresh", package = "gbt"))
#
# Deliveries of flights out of New York; each refresh trains on a new one. The environment may say where the model is
# kept (GBT_REFRESH_FOLDER) and how many rounds are trained (GBT_REFRESH_ROUNDS).

library(shiny)
library(gbt)

folder <- Sys.getenv("GBT_REFRESH_FOLDER", file.path(tempdir(), "refresh"))
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
rounds <- as.integer(Sys.getenv("GBT_REFRESH_ROUNDS", "300"))
aside <- seq(15, nrow(flights), by = 15)
held_out <- flights[aside, ]

ui <- fluidPage(
  tags$head(tags$title("A model that is refreshed"), tags$meta(name = "viewport", content = "width=device-width")),
  tags$style("body { background: #f8fafc; padding-bottom: 2rem }"),
  gbt_refresh_ui("late", "Which flights are late?"),
  tags$section(class = "gbt-refresh", tags$div(
    class = "gbt-card",
    radioButtons("delivery", "The next delivery of data", c(
      "is in order" = "good", "has responses at random: the model will be worse" = "noise",
      "has no response: training fails" = "damaged"
    )),
    uiOutput("example")
  ))
)

server <- function(input, output, session) {
  delivery <- function() {
    rows <- flights[-aside, ]
    rows <- rows[sample(nrow(rows), min(nrow(rows), 20000)), ]
    if (input$delivery == "noise") rows$late <- sample(rows$late)
    if (input$delivery == "damaged") rows$late <- NA
    rows
  }
  live <- gbt_refresh_server("late", late ~ ., delivery, file.path(folder, "late.gbt"), holdout = held_out,
                             nrounds = rounds, eta = 0.02, valid = 0.1, threads = 2)
  output$example <- renderUI({
    model <- live$model()
    if (is.null(model)) return(NULL)
    chance <- predict(model, held_out[1:5, ], type = "prob")[, 2]
    tags$p(class = "gbt-quiet", sprintf("The live model gives the first five held-out flights chances to be late of %s.",
                                        paste0(round(100 * chance), " %", collapse = ", ")))
  })
}

shinyApp(ui, server)
