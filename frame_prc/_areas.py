"""Areas under the curve, each a few expressions over running sums."""

from __future__ import annotations

import polars as pl

from frame_prc._curve import precision
from frame_prc._ranking import Ranking, rank, running
from frame_prc._request import Missing
from frame_prc._rows import Rows

COLUMNS = ("n", "n_pos", "prevalence", "average_precision", "status")
DROPPED = "n_dropped"


def columns(missing: Missing) -> list[str]:
    """Return the columns of a table of areas, after its keys."""
    return [*COLUMNS, DROPPED] if missing == "drop" else [*COLUMNS]


def step_area(gain: pl.Expr, tp: pl.Expr, fp: pl.Expr, positives: pl.Expr) -> pl.Expr:
    """Return the average precision, ``sum((R_n - R_(n-1)) * P_n)``; null without positives.

    ``gain`` is what ``tp`` grew by, point by point; points at which it did not grow may be left
    out. A point that opens a segment has no precision and is passed over.
    """
    # Divided first: the product of a tiny weight and a tiny precision would be zero.
    steps = pl.when(gain > 0).then(gain / positives * precision(tp, fp)).sum()
    return pl.when(positives > 0).then(steps)


def average_precision(rows: Rows) -> pl.LazyFrame:
    """Return one row per segment: its size and its average precision."""
    ranking = rank(rows)
    table = _step_areas(ranking).sort("segment").select("segment", *_sizes(), "average_precision")
    if rows.usable is not None:
        dropped = ranking.segments.select("segment", DROPPED)
        table = table.join(dropped, on="segment", how="left", maintain_order="left")
    return rows.finish(ranking.with_keys(table), columns(rows.columns.request.missing))


def _step_areas(ranking: Ranking) -> pl.LazyFrame:
    tp, fp, opens = pl.col("tp"), pl.col("fp"), pl.col("opens")
    gain = pl.when(~opens & ranking.key.retrieved()).then(tp - tp.shift(1))
    hits = running(ranking, "hits").with_columns(gain=gain)
    return hits.group_by("segment").agg(
        positives=tp.max(),
        negatives=fp.max(),
        average_precision=step_area(pl.col("gain"), tp, fp, tp.max()),
    )


def _sizes() -> list[pl.Expr]:
    positives, negatives = pl.col("positives"), pl.col("negatives")
    n = positives + negatives
    status = (
        pl.when(n == 0)
        .then(pl.lit("empty"))
        .when(positives == 0)
        .then(pl.lit("no_positives"))
        .when(negatives == 0)
        .then(pl.lit("no_negatives"))
        .otherwise(pl.lit("ok"))
    )
    return [
        n.alias("n"),
        positives.alias("n_pos"),
        pl.when(n > 0).then(positives / n).alias("prevalence"),
        status.alias("status"),
    ]


def average_precision_expr(
    truth: str | pl.Expr, score: str | pl.Expr, weight: str | pl.Expr | None = None
) -> pl.Expr:
    """Average precision as one Polars expression, for any context that aggregates.

    Use it inside ``group_by(...).agg``, ``group_by_dynamic``, ``rolling`` or ``over``; for whole
    frames :func:`frame_prc.average_precision` is faster, checks the rows, and reports sizes.

    Parameters
    ----------
    truth
        Column of the true class: Boolean, or 0/1 numbers.
    score
        Column of scores, any numeric dtype, higher means more likely positive.
    weight
        Column of sample weights, finite and not negative; rows of weight 0 are left out.

    Returns
    -------
    Expr
        One Float64 named ``average_precision``, between 0 and 1. It is null where it is undefined:
        without positives, and also where a row has a missing truth or score, a truth other than 0
        and 1, or a weight that is not allowed, since an expression cannot raise an error per group.

    Notes
    -----
    Without weights this is the mean, over the positive rows, of the precision at their score: the
    rank among the positives over the rank among all rows. With weights it is the sum of
    ``(R_n - R_(n-1)) * P_n`` over the distinct scores.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {
    ...         "region": ["north", "north", "north", "south", "south"],
    ...         "late": [True, False, True, False, True],
    ...         "score": [0.9, 0.8, 0.3, 0.6, 0.2],
    ...     }
    ... )
    >>> df.group_by("region").agg(frame_prc.average_precision_expr("late", "score")).sort("region")
    shape: (2, 2)
    ┌────────┬───────────────────┐
    │ region ┆ average_precision │
    │ ---    ┆ ---               │
    │ str    ┆ f64               │
    ╞════════╪═══════════════════╡
    │ north  ┆ 0.833333          │
    │ south  ┆ 0.5               │
    └────────┴───────────────────┘
    """
    truth, score = _column(truth), _column(score)
    undefined = ((truth != 0) & (truth != 1)).fill_null(True)
    undefined = undefined | score.is_null() | score.cast(pl.Float64).is_nan()
    if weight is None:
        area = _rank_area(truth == 1, score)
    else:
        weight = _column(weight).cast(pl.Float64)
        valid = (weight >= 0) & weight.is_finite()
        undefined = (undefined & (weight != 0)) | ~valid.fill_null(False)
        area = _weighted_area(truth == 1, score, weight)
    return pl.when(~undefined.any()).then(area).alias("average_precision")


def _column(column: str | pl.Expr) -> pl.Expr:
    return pl.col(column) if isinstance(column, str) else column


def _rank_area(positive: pl.Expr, score: pl.Expr) -> pl.Expr:
    # In an aggregation each use of a sorted column sorts again; two ranks are the fewest.
    found = score.filter(positive).rank("max", descending=True)
    retrieved = score.rank("max", descending=True).filter(positive)
    return (found / retrieved).mean()


def _weighted_area(positive: pl.Expr, score: pl.Expr, weight: pl.Expr) -> pl.Expr:
    ranked = score.sort(descending=True)
    ends_tie = (ranked != ranked.shift(-1)).fill_null(True)

    def running(amount: pl.Expr) -> pl.Expr:
        return amount.sort_by(score, descending=True).cum_sum().filter(ends_tie)

    hits = pl.when(positive).then(weight).otherwise(0.0)
    tp, fp = running(hits), running(weight - hits)
    return step_area(tp - tp.shift(1, fill_value=0.0), tp, fp, hits.sum())
