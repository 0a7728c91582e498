"""Measurements as one tidy table, and the ratios that are printed."""

from __future__ import annotations

import polars as pl
from benchmarks.measure import Peak, Timing
from benchmarks.runs import Run

SCHEMA = {
    "kind": pl.String,
    "rows": pl.Int64,
    "segments": pl.Int64,
    "contender": pl.String,
    "median": pl.Float64,
    "min": pl.Float64,
    "max": pl.Float64,
    "rounds": pl.Int64,
    "note": pl.String,
    "peak_bytes": pl.Int64,
    "result_bytes": pl.Int64,
    "column_bytes": pl.Int64,
}


def tidied(case: str, times: dict[Run, Timing], peaks: dict[Run, Peak]) -> pl.DataFrame:
    """Return one row per run: what it was, its seconds, its bytes, and how they compare."""
    runs = [*dict.fromkeys([*times, *peaks])]
    measured = [_row(run, times.get(run, Timing(())), peaks.get(run)) for run in runs]
    ap = pl.col("median").filter(contender="ap").first().over("kind")
    return pl.DataFrame(measured, schema=SCHEMA, orient="row").select(
        pl.lit(case).alias("case"),
        pl.all(),
        times_ap=pl.col("median") / ap,
        times_columns=pl.col("peak_bytes") / pl.col("column_bytes"),
    )


def _row(run: Run, timing: Timing, peak: Peak | None) -> tuple[object, ...]:
    seconds = timing.seconds
    spread = (timing.median, min(seconds), max(seconds)) if seconds else (None, None, None)
    weights = (peak.bytes, peak.result, peak.columns) if peak else (None, None, None)
    named = (str(run.rows), run.rows.rows, run.rows.segments, run.contender)
    return (*named, *spread, len(seconds), timing.note, *weights)


def ratios(tidy: pl.DataFrame) -> pl.DataFrame:
    """Return one column per kind of rows: times as long as ``ap``, and the peak memory."""
    seconds = pl.format("{} s", _short("median"))
    ratio = pl.when(pl.col("contender") == "ap").then(seconds).otherwise(_short("times_ap"))
    peak = pl.format("{} MB", (pl.col("peak_bytes") / 1e6).round(0).cast(pl.Int64))
    note = pl.col("note").replace("", None)
    cell = pl.concat_str(ratio, peak, note, separator="; ", ignore_nulls=True)
    return tidy.with_columns(cell=cell).pivot("kind", index="contender", values="cell")


def _short(column: str) -> pl.Expr:
    return pl.col(column).round_sig_figs(2).cast(pl.String)
