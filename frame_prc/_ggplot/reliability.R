# --- picture ---------------------------------------------------------------------------------

draw <- function(rows) {
  rows <- add_panels(rows, setdiff(keys, model))
  plot <- ggplot(of_panels(rows), aes(mean_score, observed)) +
    geom_abline(linetype = "dashed", colour = "grey40") +
    geom_linerange(aes(ymin = observed_low, ymax = observed_high), na.rm = TRUE) +
    geom_line(linewidth = 0.4, na.rm = TRUE) +
    geom_point(na.rm = TRUE) +
    labs(x = "Mean score", y = "Share of positives")
  said <- c("On the dashed line, scores are probabilities.", describe_level())
  in_panels(plot, rows, paste(said, collapse = " "))
}

