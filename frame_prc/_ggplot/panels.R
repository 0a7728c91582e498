# --- panels ----------------------------------------------------------------------------------

most_panels <- 24 # further panels are not drawn, which the subtitle mentions

# A panel for each value of some keys, and a colour per model.
add_panels <- function(rows, names) {
  rows$.panel <- in_order(name_rows(rows, names))
  rows$.model <- in_order(name_rows(rows, model))
  rows
}

scale_models <- function(rows) {
  count <- nlevels(rows$.model)
  list(
    aes(colour = .model, fill = .model),
    scale_colour_manual(
      NULL, values = rep_len(okabe_ito, count), aesthetics = c("colour", "fill"),
      guide = if (count > 1) "legend" else "none"
    )
  )
}

in_panels <- function(plot, rows, text) {
  panels <- nlevels(rows$.panel)
  drawn <- min(panels, most_panels)
  columns <- if (drawn == 4) 2 else min(drawn, 3)
  left_out <- if (drawn < panels) paste0(" Showing the first ", drawn, " of ", panels, " panels.")
  plot <- plot +
    scale_models(rows) +
    (if (panels > 1) facet_wrap(~.panel, ncol = columns)) +
    labs(title = title, subtitle = paste0(text, left_out)) +
    theme_minimal(base_size = 11) +
    theme(
      legend.justification = "left",
      legend.position = "top",
      panel.border = element_rect(fill = NA, colour = "grey75"),
      plot.background = element_rect(fill = "white", colour = NA),
      plot.title = element_text(face = "bold"),
      plot.title.position = "plot",
      strip.text = element_text(hjust = 0)
    )
  width <- 1 + columns * (if (columns > 1) 3 else 6)
  size <- c(width = width, height = 1.6 + 2.6 * ceiling(drawn / columns))
  list(plot = plot, size = pmax(size, c(7, 4.6)))
}

# The rows that are drawn.
of_panels <- function(rows) rows[as.integer(rows$.panel) <= most_panels, ]

