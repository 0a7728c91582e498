# --- picture ---------------------------------------------------------------------------------

draw <- function(rows) {
  rows <- add_panels(rows, keys)
  plot <- ggplot(of_panels(rows), aes(xmin = bin_low, xmax = bin_high)) +
    geom_rect(aes(ymin = 0, ymax = positives), colour = NA, na.rm = TRUE) +
    geom_rect(aes(ymin = -negatives, ymax = 0), fill = "grey40", colour = NA, na.rm = TRUE) +
    scale_y_continuous(labels = abs) +
    labs(x = "Score", y = "Share of its class")
  in_panels(plot, rows, "Positives up, negatives down in grey, each as shares of their class.")
}

