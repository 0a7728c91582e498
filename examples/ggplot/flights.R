# Draw the precision-recall curves of the flight delays, one panel per carrier.
#
#   Rscript examples/ggplot/flights.R curves.tsv out.png
#
# The rows of curves.tsv lie in drawing order: segment by segment, thresholds descending. Its
# columns are model, carrier, threshold, tp, fp, fn, tn, precision and recall.

library(ggplot2)

airlines <- c(
  "9E" = "Endeavor", AA = "American", AS = "Alaska", B6 = "JetBlue", DL = "Delta",
  EV = "ExpressJet", F9 = "Frontier", FL = "AirTran", HA = "Hawaiian", MQ = "Envoy",
  OO = "SkyWest", UA = "United", US = "US Airways", VX = "Virgin America", WN = "Southwest",
  YV = "Mesa"
)
columns <- 4
colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000") # Okabe and Ito

# R reads the threshold of the start points, inf, as Inf.
read_curves <- function(path) {
  read.table(
    path, sep = "\t", header = TRUE, quote = "", comment.char = "", na.strings = "",
    stringsAsFactors = FALSE
  )
}

# The four counts of any row sum to the flights of its segment; the first row will do.
summarise_carriers <- function(curves) {
  first <- curves[!duplicated(curves$carrier), ]
  first$late <- first$tp + first$fn
  first$flights <- first$late + first$fp + first$tn
  first$prevalence <- first$late / first$flights
  first[order(-first$flights), c("carrier", "flights", "late", "prevalence")]
}

panel_titles <- function(carriers) {
  named <- carriers$carrier %in% names(airlines)
  airline <- ifelse(named, paste0(airlines[carriers$carrier], " (", carriers$carrier, ")"),
                    carriers$carrier)
  count <- function(n) format(n, big.mark = ",", trim = TRUE)
  paste0(airline, "\n", count(carriers$flights), " flights, ", count(carriers$late), " late")
}

draw_curves <- function(curves, carriers) {
  titles <- panel_titles(carriers)
  carriers$panel <- factor(titles, levels = titles)
  curves$panel <- carriers$panel[match(curves$carrier, carriers$carrier)]
  share <- c("0", "0.25", "0.5", "0.75", "1")
  ggplot(curves, aes(recall, precision, colour = model)) +
    geom_hline(
      aes(yintercept = prevalence), carriers, linetype = "dashed", colour = "grey40",
      linewidth = 0.4
    ) +
    # geom_step sorts by recall, but stably: rows of equal recall keep the order they lie in.
    # "vh" holds the precision of a point back to the recall before it, as average precision does.
    geom_step(direction = "vh", linewidth = 0.45) +
    facet_wrap(~panel, ncol = columns) +
    scale_x_continuous(breaks = 0:4 / 4, labels = share) +
    scale_y_continuous(breaks = 0:4 / 4, labels = share) +
    scale_colour_manual(values = colours) +
    guides(colour = guide_legend(override.aes = list(linewidth = 1.2))) +
    # A little room around 0 and 1, or the border would hide the lines that run along it.
    coord_equal(xlim = c(-0.015, 1.015), ylim = c(-0.015, 1.015), expand = FALSE)
}

label_plot <- function(plot) {
  plot +
    labs(
      title = "Which flights from New York will arrive 30 minutes late or more?",
      subtitle = paste0(
        "Two models trained on January to June 2013, scored on July to December.\n",
        "Dashed: the carrier's share of late flights, the precision that random alarms would have."
      ),
      x = "Recall: share of the late flights that the model finds",
      y = "Precision: share of its alarms that come true",
      colour = NULL
    ) +
    theme_minimal(base_size = 11) +
    theme(
      legend.margin = margin(0, 0, 0, 0),
      legend.position = "top",
      legend.text = element_text(size = 11),
      legend.justification = "left",
      panel.border = element_rect(fill = NA, colour = "grey75"),
      panel.grid.minor = element_blank(),
      panel.spacing = unit(14, "pt"),
      plot.background = element_rect(fill = "white", colour = NA),
      plot.margin = margin(12, 16, 10, 10),
      plot.title = element_text(face = "bold"),
      plot.title.position = "plot",
      strip.text = element_text(hjust = 0, lineheight = 1.05)
    )
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 2) stop("usage: Rscript flights.R curves.tsv out.png")
curves <- read_curves(arguments[1])
carriers <- summarise_carriers(curves)
rows <- ceiling(nrow(carriers) / columns)
ggsave(
  arguments[2], label_plot(draw_curves(curves, carriers)),
  width = 10, height = 1.55 + 2.65 * rows, dpi = 110
)
