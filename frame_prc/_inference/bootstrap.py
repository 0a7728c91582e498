"""The bootstrap: how the average precision and the curve vary over resampled rows.

Rows with the same segment, score, class, weight and cluster form one cell with a size;
:mod:`frame_prc._inference.resamples` draws replicates from the cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from frame_prc._formulas import unsigned_zero
from frame_prc._lazy import concat
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Draws
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError


def check_drawable(
    rows: Rows,
    what: str = "a bootstrap cannot resample the sums of weights in pos= and neg=",
    allowed: str = "integer counts, or single rows with truth= and weight=",
) -> None:
    """Raise an error if the input is not rows, or counts of rows, to draw from."""
    if rows.columns.aggregated and rows.columns.weighted:
        raise OptionError(
            what,
            allowed,
            rows.columns.count_hint,
            shell_hint=None,
        )


# --- tables --------------------------------------------------------------------------------


def variances(rows: Rows, resampling: Draws, bins: Bins | None) -> pl.LazyFrame:
    """Return keys and ``variance``: that of the average precision over replicates."""
    from frame_prc._inference import resamples  # noqa: PLC0415 - needs NumPy, which is optional

    ranking = rank(rows)  # for its segments alone, which are the same in bins
    cells = cells_of(ranking, rows, bins)
    numbered = resamples.variances(cells, resampling, in_memory=rows.in_memory)
    return keyed(numbered, ranking, "variance")


def over_replicates(
    ranking: Ranking,
    rows: Rows,
    resampling: Draws,
    statistics: Callable[[pl.LazyFrame], pl.LazyFrame],
    wanted: Mapping[str, pl.Expr],
    *,
    every_score: bool,
    bins: Bins | None = None,
) -> pl.LazyFrame:
    """Return ``segment, order`` and aggregates over replicates: see `resamples.aggregates`."""
    from frame_prc._inference import resamples  # noqa: PLC0415 - needs NumPy

    return resamples.aggregates(
        cells_of(ranking, rows, bins),
        resampling,
        statistics,
        wanted,
        every_score=every_score,
        in_memory=rows.in_memory,
    )


def keyed(numbered: pl.LazyFrame, ranking: Ranking, column: str) -> pl.LazyFrame:
    """Return keys and a column of segments, some of which may be absent; without keys one row."""
    found = ranking.segments.with_keys(numbered)
    return found if ranking.rows.keys else found.select(pl.col(column).first())


# --- cells ---------------------------------------------------------------------------------


def cells_of(ranking: Ranking, rows: Rows, bins: Bins | None) -> pl.LazyFrame:
    """Return cells in an order that does not depend on the order of the rows."""
    rows.check_no_strata("resampling")
    if bins is None:
        score = unsigned_zero(pl.col("score"), rows.score_dtype)
        used = rows.used().with_columns(score)
    else:
        used = with_levels(rows, rows.used(), bins)
    cells = (_counted_cells if rows.columns.aggregated else _row_cells)(used, rows)
    order = ["segment", "score", "positive", "weight", "cluster"]
    descending = [name == "score" and not rows.ascending for name in order]
    numbered = rows.with_checks(ranking.segments.numbered(cells))
    return numbered.sort(order, descending=descending, nulls_last=True).select(
        "segment",
        "positive",
        "weight",
        "cluster",
        "size",
        tie=pl.struct("segment", "score").rle_id(),
        retrieved=pl.col("score").is_not_null(),
    )


def with_levels(rows: Rows, frame: pl.LazyFrame, bins: Bins) -> pl.LazyFrame:
    """Return a frame of rows; the score is the number of its bin."""
    levelled = bins.of(rows.score_dtype).with_level(frame, in_memory=rows.in_memory)
    return levelled.with_columns(score=pl.col("level").cast(pl.Int64)).drop("level")


def _row_cells(frame: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    cluster = pl.col("cluster") if rows.clustered else pl.lit(None)
    alike = frame.select(
        *rows.keys, "score", rows.weight.alias("weight"), cluster.alias("cluster"), positive="truth"
    ).filter(pl.col("positive").is_not_null())
    return alike.group_by(pl.all()).agg(size=pl.len().cast(pl.Int64))


def _counted_cells(frame: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    classes = [
        frame.group_by(*rows.keys, "score")
        .agg(size=pl.col(name).sum())
        .with_columns(positive=pl.lit(name == "pos"), weight=pl.lit(1.0), cluster=pl.lit(None))
        for name in ("pos", "neg")
    ]
    return concat(classes).filter(pl.col("size") > 0)
