# Draw one precision-recall curve, labelled with some of its decision thresholds.
#
#   Rscript examples/breast_cancer.R breast_cancer.tsv out.png
#
# The rows of breast_cancer.tsv are in drawing order, thresholds descending. Its columns are
# Precision, Recall and Decision Threshold.

library(ggplot2)

label_count <- 9
blue <- "#0072B2"

# check.names would replace the space in "Decision Threshold" by a dot.
read_curve <- function(path) {
  read.table(path, sep = "\t", header = TRUE, quote = "", comment.char = "", check.names = FALSE)
}

# Labels evenly spaced along the line, by its length on the page, do not collide.
choose_labels <- function(curve, lowest) {
  run <- c(0, diff(curve$Recall))
  rise <- c(0, diff(curve$Precision)) / (1 - lowest)
  along <- cumsum(sqrt(run^2 + rise^2))
  targets <- max(along) * seq_len(label_count) / label_count
  rows <- vapply(targets, function(target) which.min(abs(along - target)), integer(1))
  labels <- curve[unique(rows), ]
  labels$text <- formatC(labels[["Decision Threshold"]], digits = 3, format = "fg", flag = "#")
  labels
}

draw_curve <- function(curve, labels, lowest) {
  ggplot(curve, aes(Recall, Precision)) +
    # geom_line would sort the rows by recall; geom_path joins them in their order.
    geom_path(colour = blue, linewidth = 0.8) +
    geom_point(data = labels, colour = blue, size = 2.4) +
    geom_text(aes(label = text), labels, hjust = 1.12, vjust = 1.9, size = 3.8) +
    coord_cartesian(xlim = c(0, 1), ylim = c(lowest, 1)) +
    labs(
      title = "Which breast tumours are benign?",
      subtitle = paste0(
        "One model at every decision threshold. The numbers are some of these thresholds:\n",
        "the lowest score that is called benign. The precision axis starts at ", lowest, "."
      ),
      x = "Recall: share of the benign tumours that are called benign",
      y = "Precision: share of those called benign that are"
    ) +
    theme_minimal(base_size = 12) +
    theme(
      panel.grid.minor = element_blank(),
      plot.background = element_rect(fill = "white", colour = NA),
      plot.margin = margin(12, 16, 10, 10),
      plot.title = element_text(face = "bold"),
      plot.title.position = "plot"
    )
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 2) stop("usage: Rscript breast_cancer.R breast_cancer.tsv out.png")
curve <- read_curve(arguments[1])
lowest <- floor(10 * min(curve$Precision)) / 10
plot <- draw_curve(curve, choose_labels(curve, lowest), lowest)
ggsave(arguments[2], plot, width = 8, height = 6, dpi = 120)
