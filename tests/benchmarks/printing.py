"""Tables as they are printed and kept."""

from __future__ import annotations

import polars as pl


def markdown(table: pl.DataFrame) -> str:
    """Return a table in Markdown."""
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=60_000,
        fmt_str_lengths=1000,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
    ):
        return f"{table.fill_null('')}\n"
