# --- from file to file -----------------------------------------------------------------------

# The folder of this script, run by Rscript or by source().
script_folder <- function() {
  for (frame in sys.frames()) if (!is.null(frame$ofile)) return(dirname(frame$ofile))
  file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
  # Rscript writes a space in a name as ~+~.
  if (length(file) == 1) dirname(gsub("~+~", " ", file, fixed = TRUE)) else "."
}

arguments <- commandArgs(trailingOnly = TRUE)
table_path <- if (length(arguments) > 0) arguments[1] else file.path(script_folder(), table_file)
picture_path <- if (length(arguments) > 1) arguments[2] else file.path(script_folder(), picture_file)

rows <- restore(read_rows(table_path))
if (nrow(rows) == 0) stop("there is nothing to draw: the table has no rows")
drawn <- draw(rows)
longest_side <- 2000 # pixels
ggsave(
  picture_path, drawn$plot, width = drawn$size[["width"]], height = drawn$size[["height"]],
  dpi = min(110, longest_side / max(drawn$size)), limitsize = FALSE
)
message("Saved ", picture_path)
