# --- options ---------------------------------------------------------------------------------

most_panels <- 40 # further panels are not drawn, which the subtitle mentions
most_on_top <- 5 # with more colours, the legend is at the side
most_columns <- 7
iso_label <- 34 # points
visible_recall <- 0.004 # a pixel or two
f_scores <- c(0.2, 0.4, 0.6, 0.8) # of the grey curves
# --- segments --------------------------------------------------------------------------------

# Number the rows by their values in some columns, in order of first appearance; NA is a value.
number_by <- function(curves, columns) {
  if (length(columns) == 0) return(rep(1L, nrow(curves)))
  codes <- do.call(paste, lapply(curves[columns], function(key) match(key, unique(key))))
  match(codes, unique(codes))
}

# Number models in the order of their levels: that in which they were given.
number_models <- function(key) {
  if (is.factor(key)) match(key, c(levels(droplevels(key)), NA)) else match(key, unique(key))
}

add_segments <- function(curves) {
  curves$.panel <- number_by(curves, setdiff(keys, model))
  curves$.line <- number_by(curves, keys)
  curves$.colour <- if (is.null(model)) 1L else number_models(curves[[model]])
  curves
}

# Return a row per line. The counts of any of its rows sum to the size of the segment.
summarise_segments <- function(curves) {
  first <- curves[!duplicated(curves$.line), ]
  first <- first[order(first$.panel, first$.colour), ]
  first$.positives <- first$tp + first$fn
  first$.size <- first$.positives + first$fp + first$tn
  first$.prevalence <- first$.positives / first$.size
  first$.area <- describe_area(first)
  first
}

# --- text ------------------------------------------------------------------------------------

describe_area <- function(segments) {
  area <- segments$average_precision
  text <- ifelse(is.na(area), "AP undefined", sprintf("AP %.3f", area))
  if (is.null(segments$ci_low)) return(text)
  interval <- sprintf("%s [%.3f, %.3f]", text, segments$ci_low, segments$ci_high)
  ifelse(is.na(segments$ci_low), text, interval)
}

# Sums of weights may have decimals.
show_size <- function(size) format(size, big.mark = ",", trim = TRUE, digits = 7)

describe_size <- function(segments) {
  if (length(unique(segments$.size)) > 1 || length(unique(segments$.positives)) > 1) return(NULL)
  paste0(show_size(segments$.positives[1]), " of ", show_size(segments$.size[1]), " positive")
}

describe_panel <- function(segments) {
  names <- setdiff(keys, model)
  key <- Map(name_key, segments[1, names, drop = FALSE], key_titles[names])
  area <- segments$.area
  if (!is.null(model)) area <- paste0(show_key(segments[[model]]), ": ", area)
  paste(c(paste(key, collapse = ", "), describe_size(segments), area), collapse = "\n")
}

describe_plot <- function(curves, segments, panels) {
  drawn <- min(panels, most_panels)
  paste(c(
    if (panels == 1) describe_size(segments),
    "Dashed: prevalence, the precision of a random ranking.",
    if (!are_large(drawn)) paste0("Grey curves: F1 = ", paste(f_scores, collapse = ", "), "."),
    if (has_band(curves)) describe_band(segments),
    if (drawn < panels) paste0("Showing the first ", drawn, " of ", panels, " segments.")
  ), collapse = "\n")
}

describe_band <- function(segments) {
  paste0(
    "Ribbon: ", if (!is.null(level)) paste0(format(100 * level), " % "),
    "interval of precision at each threshold",
    if (!is.null(segments$ci_low)) "; in brackets, of AP",
    if (!is.null(cluster)) paste0("; rows clustered by ", cluster), "."
  )
}

# --- picture ---------------------------------------------------------------------------------

iso_f1 <- function(f) {
  recall <- seq(f / (2 - f), 1, length.out = 101)
  data.frame(f_score = f, recall = recall, precision = f * recall / (2 * recall - f))
}

# At the right of the panel, if there is room.
label_iso_f1 <- function(panels) {
  if (!are_large(panels)) return(NULL)
  labels <- data.frame(precision = f_scores / (2 - f_scores), label = paste("F1 =", f_scores))
  geom_text(
    aes(1.03, precision, label = label), labels, hjust = 0, size = 2.5, colour = "grey45"
  )
}

has_band <- function(curves) !is.null(curves$precision_low)

# The first points lie so close to recall 0 that they would be drawn as a bar that hides the axis.
# So the line opens at the height of its first visible step.
open_at_first_step <- function(curves) {
  steps <- curves[which(curves$recall > visible_recall), ]
  height <- steps$precision[match(curves$.line, steps$.line)]
  early <- which(curves$recall <= visible_recall & !is.na(height))
  curves$precision[early] <- height[early]
  curves
}

# geom_ribbon has no steps, so each row is repeated at the recall of the row before it.
steps_of <- function(curves) {
  before <- curves
  before$recall <- ave(curves$recall, curves$.line, FUN = function(r) c(r[1], head(r, -1)))
  steps <- rbind(before, curves)[order(rep(seq_len(nrow(curves)), 2)), ]
  steps[!is.na(steps$recall) & !is.na(steps$precision_low), ]
}

draw_band <- function(curves) {
  if (!has_band(curves)) return(NULL)
  geom_ribbon(
    aes(ymin = precision_low, ymax = precision_high, fill = .colour, group = .line),
    steps_of(curves), alpha = 0.2, colour = NA
  )
}

draw_panels <- function(segments) {
  if (max(segments$.panel) == 1) return(NULL)
  titles <- vapply(split(segments, segments$.panel), describe_panel, "")
  columns <- panel_columns(max(segments$.panel))
  facet_wrap(~.panel, ncol = columns, labeller = as_labeller(titles))
}

# About as many columns as make the picture a square, preferably with full rows.
panel_columns <- function(panels) {
  if (panels <= 4) return(c(1, 2, 3, 2)[panels])
  columns <- round(sqrt(1.3 * panels))
  choices <- c(columns, min(columns + 1, most_columns), columns - 1)
  c(choices[panels %% choices == 0], columns)[1]
}

panel_size <- function(panels) c(6, 3.6, 3, 2.5, 2.2, 1.9, 1.8)[panel_columns(panels)] # inches

are_large <- function(panels) panel_size(panels) >= 3

text_size <- function(panels) min(8.8, 3.5 * panel_size(panels)) # points

# With one panel, AP is in the legend; with several, in the titles of the panels.
colour_labels <- function(segments) {
  first <- segments[!duplicated(segments$.colour), ]
  first <- first[order(first$.colour), ]
  names <- if (!is.null(model)) show_key(first[[model]])
  if (max(segments$.panel) > 1) return(names)
  if (is.null(names)) first$.area else paste0(names, ": ", first$.area)
}

draw_colours <- function(segments) {
  count <- max(segments$.colour)
  # Skip the last colours of the scale, which are too light on white.
  scale <- if (count <= length(okabe_ito)) okabe_ito else hcl.colors(ceiling(1.3 * count))
  values <- setNames(scale[seq_len(count)], seq_len(count))
  labels <- colour_labels(segments)
  rows <- if (max(segments$.panel) == 1 || count > most_on_top) count else 1
  guide <- guide_legend(nrow = rows, override.aes = list(linewidth = 1.2))
  list(
    scale_colour_manual(
      NULL, values = values, labels = if (is.null(labels)) waiver() else labels,
      guide = if (is.null(labels)) "none" else guide
    ),
    scale_fill_manual(values = values, guide = "none")
  )
}

draw_curves <- function(curves, segments) {
  curves$.colour <- factor(curves$.colour)
  panels <- max(segments$.panel)
  share <- c("0", "0.25", "0.5", "0.75", "1")
  ggplot(open_at_first_step(curves), aes(recall, precision)) +
    geom_line(
      aes(group = f_score), do.call(rbind, lapply(f_scores, iso_f1)), colour = "grey85",
      linewidth = 0.3
    ) +
    geom_hline(
      aes(yintercept = .prevalence), unique(segments[c(".panel", ".prevalence")]),
      linetype = "dashed", colour = "grey40", linewidth = 0.4
    ) +
    draw_band(curves) +
    # geom_step sorts by recall, and keeps the order of rows of equal recall. Direction "vh" draws
    # the precision of a point from the recall before it, which is how average precision sums.
    geom_step(aes(colour = .colour, group = .line), direction = "vh", linewidth = 0.5, na.rm = TRUE) +
    draw_panels(segments) +
    draw_colours(segments) +
    scale_x_continuous(breaks = 0:4 / 4, labels = share) +
    scale_y_continuous(breaks = 0:4 / 4, labels = share) +
    label_iso_f1(panels) +
    # With a margin, so that the border does not hide lines at 0 and 1.
    coord_equal(
      xlim = c(-0.015, 1.015), ylim = c(-0.015, 1.015), expand = FALSE,
      clip = if (are_large(panels)) "off" else "on"
    )
}

label_plot <- function(plot, curves, segments, panels) {
  drawn <- min(panels, most_panels)
  size <- text_size(drawn)
  beside <- if (are_large(drawn)) 14 + iso_label else 14
  plot +
    labs(
      title = title,
      subtitle = describe_plot(curves, segments, panels),
      x = "Recall: tp / (tp + fn)",
      y = "Precision: tp / (tp + fp)"
    ) +
    theme_minimal(base_size = 11) +
    theme(
      axis.text = element_text(size = size),
      legend.justification = c("left", "top"),
      legend.margin = margin(0, 0, 0, 0),
      legend.position = if (max(segments$.colour) > most_on_top) "right" else "top",
      panel.border = element_rect(fill = NA, colour = "grey75"),
      panel.grid.minor = element_blank(),
      panel.spacing.x = unit(beside, "pt"),
      panel.spacing.y = unit(14, "pt"),
      plot.background = element_rect(fill = "white", colour = NA),
      plot.margin = margin(12, beside, 10, 10),
      plot.title = element_text(face = "bold"),
      plot.title.position = "plot",
      strip.text = element_text(hjust = 0, lineheight = 1.05, size = size)
    )
}

# In inches. Panels are square; their titles have a line per model.
picture_size <- function(segments) {
  panels <- max(segments$.panel)
  columns <- panel_columns(panels)
  between <- 0.15 + if (are_large(panels)) iso_label / 72 else 0
  line <- 0.0195 * text_size(panels)
  lines <- if (panels == 1) 0 else 2 + max(table(segments$.panel))
  legend <- if (max(segments$.colour) > most_on_top) 2 else 0
  c(
    width = 0.9 + columns * (panel_size(panels) + between) + legend,
    height = 2 + ceiling(panels / columns) * (panel_size(panels) + line * lines)
  )
}

draw <- function(curves) {
  curves <- add_segments(curves)
  panels <- max(curves$.panel)
  curves <- curves[curves$.panel <= most_panels, ]
  segments <- summarise_segments(curves)
  plot <- label_plot(draw_curves(curves, segments), curves, segments, panels)
  list(plot = plot, size = picture_size(segments), curves = curves, segments = segments)
}

