# Trees as pictures. A tree grows downwards, or to the right where that has room for more of it; `across` is the
# direction in which siblings are side by side, `along` the one from parents to children. All lengths are inches.
#
#   block    a node's lines of text with its width and height, and in front of it the branch that leads to it
#   layout   list(nodes, blocks, cex, down, depth, across = place of each node's middle, layer = where layers begin)

#' Draw a tree
#'
#' Draws a tree of a model, or a part of it. A node shows the condition for going left ("yes"), its gain and its cover
#' (the sum of hessians; for squared error the number of rows). A leaf shows what it adds to the score, a linear leaf
#' what it adds where its rows have their mean, and its slopes, for one unit of a column each. The branches show which
#' way missing values (`NA`) go. Branches are the thicker the larger their cover is. Leaves with values above
#' 0 are orange, those below 0 are blue, the paler the nearer to 0.
#'
#' If the whole tree has no room with letters of 6 points, the lowest layers are left out. Boxes then show how many
#' leaves are below and the number of the node, by which `gbt_tree(model, tree, node = )` shows that part.
#'
#' @param x The result of [gbt_tree()].
#' @param show What nodes show in addition to conditions and values: `"gain"`, `"cover"`, both or `character(0)`.
#' @param direction Where children are drawn: `"down"`, `"right"`, or whichever shows more of the tree (`"auto"`).
#' @param ... `main`, `sub`; `col`: two colours, of leaves below and above 0.
#' @return `x`, invisibly.
#' @seealso [gbt_tree()]; [plot.gbt()] about all plots
#' @concept draw a tree
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 3, max_depth = 3, threads = 1)
#' plot(gbt_tree(m, 1))
#' plot(gbt_tree(m, 1, depth = 1), show = "cover", direction = "right")
#' @export
plot.gbt_tree <- function(x, show = c("gain", "cover"), direction = c("auto", "down", "right"), ...) {
  given <- plot_dots(list(...), "col", character(0))
  draw_figure(tree_figure(x, show, match_choice(direction, c("auto", "down", "right"), "direction"), given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_tree <- function(object, show = c("gain", "cover"), depth = 4L, ...) {
  object$nodes <- part_of_tree(object$nodes, object$nodes$node[1L], check_whole(depth, "depth", 0))
  gg_figure(tree_figure(object, show), ...)
}

tree_figure <- function(x, show, direction = "auto", given = list()) {
  show <- if (length(show)) match_choices(show, c("gain", "cover"), "show")
  col <- two_colours(given)
  none <- list(title = NULL)
  make <- function(page, box) tree_marks(page, x$nodes, show, direction, col, box)
  figure(given, tree_title(x), tree_words(x), none, none, list(panel(NULL, make = make)))
}

# list(marks in inches, note).
tree_marks <- function(page, nodes, show, direction, col, box) {
  note <- NULL
  layout <- fit_tree(page, nodes, show, direction, box)
  if (layout$depth < max(nodes$depth)) {
    note <- "lower layers not shown for lack of room; gbt_tree(node = ) has the part below a node"
    page$dry <- TRUE
    box[3L] <- put_note(page, note, box)
    layout <- fit_tree(page, nodes, show, direction, box)
  }
  place <- place_tree(page, layout, box)
  list(marks = c(branch_marks(layout, place), node_marks(page, layout, place, leaf_fills(layout$nodes, col))),
       note = note)
}

# Text ----------------------------------------------------------------------------------------------------------------

# Lines of each node, a list of texts; the first `strong` of each are what the node is, others are figures about it.
node_lines <- function(nodes, show, down) {
  kind <- node_kinds(nodes)
  feature <- shorten_letters(plain_text(nodes$feature), 24L)
  condition <- condition_texts(nodes)
  value <- leaf_texts(nodes)
  gain <- paste("gain", number_label(nodes$gain))
  cover <- paste("cover", number_label(nodes$cover, 4L))
  Map(function(i, kind) {
    main <- switch(kind, leaf = if (down) value[[i]] else paste(value[[i]], collapse = ", "),
                   cut = c(counted(nodes$leaves[i], "leave"), sprintf("below node %d", nodes$node[i])),
                   split = if (down) c(feature[i], condition[i]) else paste(feature[i], condition[i]))
    figures <- c(if (kind == "split" && "gain" %in% show) gain[i], if ("cover" %in% show) cover[i])
    if (kind == "cut" && !down) main <- paste(main, collapse = " ")
    if (!down && length(figures)) {
      if (kind != "split") return(list(text = paste0(c(main, figures), collapse = "  "), strong = 1L))
      figures <- paste(figures, collapse = ", ")
    }
    list(text = c(main, figures), strong = length(main))
  }, seq_len(nrow(nodes)), kind)
}

# list(lines, width, height, branch, lead = length of the branch's text, entry = that of the layer's longest, along,
# across).
tree_blocks <- function(page, nodes, show, cex, down) {
  lines <- node_lines(nodes, show, down)
  size <- letter_size(page, cex)
  line <- line_height(page, cex)
  text <- unlist(lapply(lines, `[[`, "text"))
  wide <- text_width(text, size)
  node <- rep(seq_along(lines), lengths(lapply(lines, `[[`, "text")))
  width <- as.vector(tapply(wide, node, max)) + 0.8 * line
  height <- tabulate(node, length(lines)) * 0.9 * line + 0.4 * line
  branch <- branch_texts(nodes)
  lead <- ifelse(nzchar(branch), if (down) 0.95 * line else text_width(branch, size) + 0.6 * line, 0)
  entry <- stats::ave(lead, nodes$depth, FUN = max) # so boxes of a layer begin in line
  list(lines = lines, width = width, height = height, branch = branch, lead = lead, entry = entry,
       along = entry + (if (down) height else width),
       across = if (down) pmax(width, text_width(branch, size)) else height)
}

# Places --------------------------------------------------------------------------------------------------------------

# The middles of the nodes across, so that no two of a layer are nearer than `gap`, parents are over the middle of
# their children, and parts are as near to each other as their outlines allow (Reingold and Tilford, 1981). Parts are
# put together from the leaves up; of each part the outline is kept, the two ends of every layer from its root's middle.
tidy_places <- function(nodes, across, gap) {
  child <- child_rows(nodes)
  n <- nrow(nodes)
  low <- as.list(-across / 2)
  high <- as.list(across / 2)
  half <- numeric(n) # of the distance between the two children
  for (i in rev(which(!is.na(child$left)))) {
    a <- child$left[i]
    b <- child$right[i]
    both <- seq_len(min(length(low[[a]]), length(low[[b]])))
    half[i] <- (max(high[[a]][both] - low[[b]][both]) + gap) / 2
    deeper <- if (length(low[[a]]) > length(low[[b]])) list(a, -half[i]) else list(b, half[i])
    under <- function(side, first, shift) {
      rest <- side[[deeper[[1L]]]][-both] + deeper[[2L]]
      c(side[[first]][both] + shift, rest)
    }
    low[[i]] <- c(low[[i]], under(low, a, -half[i]))
    high[[i]] <- c(high[[i]], under(high, b, half[i]))
    low[c(a, b)] <- high[c(a, b)] <- list(NULL)
  }
  middle <- numeric(n)
  for (i in which(!is.na(child$left))) {
    middle[child$left[i]] <- middle[i] - half[i]
    middle[child$right[i]] <- middle[i] + half[i]
  }
  middle - min(low[[1L]])
}

tree_layout <- function(page, nodes, show, cex, down, depth) {
  nodes <- part_of_tree(nodes, nodes$node[1L], depth)
  blocks <- tree_blocks(page, nodes, show, cex, down)
  line <- line_height(page, cex)
  across <- tidy_places(nodes, blocks$across, if (down) 0.5 * line else 0.15 * line)
  layer <- as.vector(tapply(blocks$along, nodes$depth, max))
  list(nodes = nodes, blocks = blocks, cex = cex, down = down, depth = depth, across = across, layer = layer,
       gap = if (down) 0.9 * line else 1.2 * line)
}

# Lengths that a layout needs: c(along, across).
layout_size <- function(layout) {
  c(sum(layout$layer) + (length(layout$layer) - 1) * layout$gap, max(layout$across + layout$blocks$across / 2))
}

layout_fits <- function(layout, box) {
  room <- c(box[2L] - box[1L], box[4L] - box[3L])
  all(layout_size(layout) <= (if (layout$down) rev(room) else room) * (1 + 1e-9))
}

tree_sizes <- c(0.85, 0.75, 0.65, 0)

# The layout that shows the most layers; of equals the one with the largest letters, of equals the one downwards.
fit_tree <- function(page, nodes, show, direction, box) {
  best <- NULL
  for (down in list(auto = c(TRUE, FALSE), down = TRUE, right = FALSE)[[direction]]) {
    found <- tree_layout(page, nodes, show, 0, down, 0)
    for (depth in seq_len(max(nodes$depth))) {
      deeper <- tree_layout(page, nodes, show, 0, down, depth)
      if (!layout_fits(deeper, box)) break
      found <- deeper
    }
    for (cex in tree_sizes) {
      larger <- tree_layout(page, nodes, show, cex, down, found$depth)
      if (layout_fits(larger, box)) break
    }
    if (is.null(best) || larger$depth > best$depth || larger$depth == best$depth && larger$cex > best$cex) {
      best <- larger
    }
  }
  best
}

# Where boxes lie: list(left, right, bottom, top, entry_x, entry_y = the end of the line that leads to a node, exit_x,
# exit_y = where lines to its children begin, turn = where these turn). What room is left goes between the nodes, up to
# a limit, and around the tree.
place_tree <- function(page, layout, box) {
  down <- layout$down
  blocks <- layout$blocks
  depth <- layout$nodes$depth + 1L
  size <- layout_size(layout)
  room <- c(box[2L] - box[1L], box[4L] - box[3L])
  if (down) room <- rev(room)
  layers <- length(layout$layer)
  gap <- layout$gap + if (layers > 1L) max(0, min((room[1L] - size[1L]) / (layers - 1), 3 * layout$gap)) else 0
  begin <- c(0, cumsum(layout$layer + gap))[depth]
  spread <- diff(range(layout$across))
  stretch <- if (spread > 0) min(1.8, (room[2L] - max(blocks$across)) / spread) else 1
  middle <- layout$across * max(1, stretch)
  low <- min(middle - blocks$across / 2)
  high <- max(middle + blocks$across / 2)
  middle <- middle - low + (room[2L] - (high - low)) / 2
  if (down) {
    top <- box[4L] - begin - blocks$entry
    x <- box[1L] + middle
    return(list(left = x - blocks$width / 2, right = x + blocks$width / 2, bottom = top - blocks$height, top = top,
                entry_x = x, entry_y = top + blocks$entry, exit_x = x, exit_y = top - blocks$height,
                turn = box[4L] - (c(0, cumsum(layout$layer + gap))[depth + 1L] - 0.6 * gap)))
  }
  left <- box[1L] + begin + blocks$entry
  y <- box[4L] - middle
  list(left = left, right = left + blocks$width, bottom = y - blocks$height / 2, top = y + blocks$height / 2,
       entry_x = left - blocks$lead, entry_y = y, exit_x = left + blocks$width, exit_y = y,
       turn = box[1L] + (c(0, cumsum(layout$layer + gap))[depth + 1L] - 0.5 * gap))
}

# Marks ---------------------------------------------------------------------------------------------------------------

branch_marks <- function(layout, place) {
  child <- child_rows(layout$nodes)
  parent <- rep(which(!is.na(child$left)), 2L)
  to <- c(child$left, child$right)
  to <- to[!is.na(to)]
  from_x <- place$exit_x[parent]
  from_y <- place$exit_y[parent]
  x <- place$entry_x[to]
  y <- place$entry_y[to]
  turn <- place$turn[parent]
  line <- function(x, y, xend, yend) {
    mark("segment", x, y, xend, yend, col = ink$axis, lwd = branch_widths(layout$nodes)[to], lend = 2)
  }
  if (layout$down) return(list(line(from_x, from_y, from_x, turn), line(from_x, turn, x, turn), line(x, turn, x, y)))
  list(line(from_x, from_y, turn, from_y), line(turn, from_y, turn, y), line(turn, y, x, y))
}

# How wide the branch to each node is, in units of `lwd`, 1/96 inch: by its cover, and never too thin to be seen.
branch_widths <- function(nodes) {
  share <- nodes$cover / max(nodes$cover[1L], 1e-300)
  0.8 + 3.2 * ifelse(is.finite(share), pmin(share, 1), 0)
}

# A colour of this strength, 0 to 1, on white.
on_white <- function(col, strength) {
  grDevices::rgb(t(255 - strength * (255 - grDevices::col2rgb(col))), maxColorValue = 255)
}

# Blue and orange by the value's size; of vectors and parts that are left out grey.
leaf_fills <- function(nodes, col) {
  kind <- node_kinds(nodes)
  fill <- ifelse(kind == "split", "#FFFFFF", "#F0F0F0")
  if (is.matrix(nodes$value) && ncol(nodes$value) > 1L) return(fill)
  value <- as.vector(nodes$value)
  leaf <- which(kind == "leaf" & is.finite(value))
  most <- max(abs(value[leaf]), 1e-300)
  for (i in leaf) fill[i] <- on_white(col[1L + (value[i] > 0)], 0.08 + 0.42 * abs(value[i]) / most)
  fill
}

node_marks <- function(page, layout, place, fill) {
  blocks <- layout$blocks
  line <- line_height(page, layout$cex)
  size <- letter_size(page, layout$cex) / page$size
  kind <- node_kinds(layout$nodes)
  boxes <- mark("rect", place$left, place$bottom, place$right, place$top, col = fill, lty = ifelse(kind == "cut", 2, 1),
                border = ifelse(kind == "split", ink$axis, "#C8C8C8"))
  branch <- nzchar(blocks$branch)
  x <- if (layout$down) place$entry_x else place$left - 0.3 * line
  y <- if (layout$down) place$top + 0.2 * line else place$entry_y
  names <- mark("text", x[branch], y[branch], label = blocks$branch[branch], role = "branch", col = ink$soft,
                adj = if (layout$down) c(0.5, 0) else c(1, 0.4), cex = size)
  count <- lengths(lapply(blocks$lines, `[[`, "text"))
  node <- rep(seq_along(count), count)
  row <- sequence(count)
  text <- unlist(lapply(blocks$lines, `[[`, "text"))
  role <- ifelse(row <= vapply(blocks$lines, `[[`, 1L, "strong")[node], kind[node], "figures")
  x <- (place$left + place$right)[node] / 2
  y <- place$top[node] - 0.2 * line - 0.9 * line * (row - 0.5)
  c(list(boxes, names), lapply(unique(role), function(one) {
    at <- role == one
    mark("text", x[at], y[at], label = text[at], role = one, adj = c(0.5, 0.4), cex = size,
         col = if (one == "figures") ink$soft else ink$text)
  }))
}
