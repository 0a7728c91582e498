# --- picture ---------------------------------------------------------------------------------

# Name a segment, or what is compared minus what it is compared with.
name_intervals <- function(rows) {
  other <- intersect(c("baseline", "reference"), keys)
  text <- name_rows(rows, setdiff(keys, other))
  if (length(other) == 1) paste(text, "-", show_key(rows[[other]])) else text
}

draw <- function(rows) {
  value <- intersect(c("difference", "average_precision"), names(rows))[1]
  rows$.value <- rows[[value]]
  rows$.panel <- in_order(rep("", nrow(rows)))
  rows$.model <- in_order(name_rows(rows, if (value != "difference") model))
  rows <- rows[order(rows$.value, na.last = FALSE), ]
  rows$.name <- in_order(name_intervals(rows))
  few <- rows[rows$status != "ok", ]
  equal <- if (value == "difference") {
    geom_vline(xintercept = 0, linetype = "dashed", colour = "grey40")
  }
  plot <- ggplot(rows, aes(.value, .name)) +
    equal +
    geom_linerange(aes(xmin = ci_low, xmax = ci_high), rows[!is.na(rows$ci_low), ]) +
    geom_point(size = 2.5, na.rm = TRUE) +
    geom_point(data = few, colour = "white", size = 1, na.rm = TRUE, show.legend = FALSE) +
    labs(x = if (value == "difference") "Difference of average precision" else "Average precision") +
    labs(y = NULL)
  said <- c(describe_level(), if (nrow(few) > 0) "White centre: see the column status.")
  drawn <- in_panels(plot, rows, paste(said, collapse = " "))
  list(plot = drawn$plot, size = c(width = 9, height = 1.6 + 0.28 * max(nrow(rows), 5)))
}

