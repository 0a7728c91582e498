# --- picture ---------------------------------------------------------------------------------

draw <- function(rows) {
  rows <- add_panels(rows, setdiff(keys, model))
  long <- rbind(
    cbind(rows, .measure = "Precision", .rate = rows$precision),
    cbind(rows, .measure = "Recall", .rate = rows$recall)
  )
  plot <- ggplot(of_panels(long), aes(alerts_per_1000, .rate, linetype = .measure)) +
    geom_line(na.rm = TRUE) +
    geom_point(na.rm = TRUE) +
    scale_linetype_manual(NULL, values = c(Precision = "solid", Recall = "dashed")) +
    coord_cartesian(ylim = c(0, 1)) +
    labs(x = "Alerts per 1,000 rows", y = "Precision, recall")
  in_panels(plot, rows, "Each point is a threshold of the table.")
}

