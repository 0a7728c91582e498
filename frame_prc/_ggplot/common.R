# --- types -----------------------------------------------------------------------------------

# In text, NA is a missing number, Boolean, or time.
with_na <- function(x) if (is.character(x)) replace(x, x == "NA", NA) else x

as_number <- function(x) as.numeric(with_na(x))
as_integer <- function(x) as.integer(with_na(x))
as_boolean <- function(x) as.logical(with_na(x))
as_date <- function(x) as.Date(with_na(x), format = "%Y-%m-%d")
# Another table may have levels that the script does not list.
as_factor <- function(x, levels, labels = levels, null = "NA") {
  more <- setdiff(x, c(levels, null, NA))
  factor(x, levels = c(levels, more), labels = c(labels, more))
}
as_time <- function(x, zone) {
  instants <- as.POSIXct(with_na(x), format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC")
  structure(instants, tzone = zone)
}

# --- colours ---------------------------------------------------------------------------------

# Okabe & Ito (2008), jfly.uni-koeln.de/color
okabe_ito <- c(
  "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"
)

# --- names -----------------------------------------------------------------------------------

# Show a key on one line, without its middle if it is long, in quotes if it is blank.
show_key <- function(key) {
  text <- gsub("[[:cntrl:]]+", " ", enc2utf8(format_key(key)))
  ends <- paste0(substr(text, 1, 22), "...", substr(text, nchar(text) - 10, nchar(text)))
  text <- ifelse(nchar(text) > 36, ends, text)
  text <- ifelse(trimws(text) == "", paste0('"', text, '"'), text)
  ifelse(is.na(key), "<NA>", text)
}

format_key <- function(key) {
  if (inherits(key, c("factor", "Date", "POSIXt"))) return(as.character(key))
  format(key, digits = 15, trim = TRUE, scientific = FALSE)
}

# Numbers and Booleans are shown with the name of the key.
name_key <- function(key, name) {
  if (is.numeric(key) || is.logical(key)) paste(name, show_key(key)) else show_key(key)
}

# Name rows by some keys; without any, all have the same name.
name_rows <- function(rows, names) {
  if (length(names) == 0) return(rep("all rows", nrow(rows)))
  do.call(paste, c(unname(Map(name_key, rows[names], key_titles[names])), sep = ", "))
}

# Text as a factor, in order of first appearance.
in_order <- function(text) factor(text, unique(text))

describe_level <- function() {
  if (is.null(level)) return(NULL)
  clustered <- if (!is.null(cluster)) paste0("; rows clustered by ", cluster)
  paste0(format(100 * level), " % intervals", clustered, ".")
}

