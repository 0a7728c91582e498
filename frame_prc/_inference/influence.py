"""How far each row moves the average precision: the derivative by the row's weight.

With P the weight of the positives, Q_n = TP_n + FP_n and m running over the scores at or below that
of the row, a unit of weight more on the n-th highest score moves the average precision (AP) by

- on a positive row ``(TP_n / Q_n - AP + sum((TP_m - TP_(m-1)) * FP_m / Q_m^2)) / P``,
- on a negative row ``-sum((TP_m - TP_(m-1)) * TP_m / Q_m^2) / P``.

This is the influence function of ``E[truth * precision(score)] / prevalence``, over the total
weight. Times the rows' weights it adds up to 0, and its squares add up to the variance of AP (the
infinitesimal jackknife: Efron 1981, doi 10.2307/2335442). All rows of one score and class have the
same, so it needs only counts and the sums of squared weights.
"""

from __future__ import annotations

import polars as pl

from frame_prc._curves.curve import points
from frame_prc._formulas import step_area, total, unsigned_zero
from frame_prc._lazy import join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import HITS, running
from frame_prc._rows.rows import Rows

_TP, _FP, _OPENS = pl.col("tp"), pl.col("fp"), pl.col("opens")
_POSITIVES, _RETRIEVED = pl.col("positives"), pl.col("tp") + pl.col("fp")
_GAIN, _ERROR = pl.col("gain"), pl.col("error")


# --- segments ------------------------------------------------------------------------------


def spreads(ranking: Ranking) -> pl.LazyFrame:
    """Return the average precision of each segment, and the variance of it.

    The ranking must have been asked for squares.

    Returns
    -------
    LazyFrame
        ``segment, positives, negatives, step``; ``shortfall``, which is 1 less the average
        precision and exactly 0 where no negative ranks above a positive; ``variance``;
        ``n_effective``, the number
        of positives of equal weight that say as much: the square of the sum of their weights over
        the sum of the squares.
    """
    hits = running(ranking, HITS)
    return spreads_of(hits.filter(ranking.key.retrieved() & (_OPENS | (_RETRIEVED > 0))), ranking)


def spreads_of(hits: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Return the same from the scores at which true positives grow.

    Between them no influence changes.
    """
    steps = _with_influence(hits).with_columns(_squares(ranking))
    squares = (
        pl.col("pos") * pl.col("on_positive") ** 2 + pl.col("neg") * pl.col("on_negative") ** 2
    )
    totals = [pl.col(name).first() for name in ("positives", "negatives", "step", "shortfall")]
    table = (
        steps.with_columns(variance=squares)
        .group_by("segment")
        .agg(*totals, pl.col("variance", "pos").sum())
    )
    n_effective = _POSITIVES * (_POSITIVES / pl.col("pos"))
    defined = pl.when(_POSITIVES > 0).then(pl.col("step", "shortfall", "variance", "n_effective"))
    return (
        table.sort("segment")
        .with_columns(n_effective=n_effective)
        .with_columns(defined)
        .drop("pos")
    )


def _squares(ranking: Ranking) -> list[pl.Expr]:
    """Return the sums of squared weights that a step adds."""
    if not ranking.squares:
        return [_GAIN.alias("pos"), pl.col("losses").alias("neg")]
    pos = _added("tp_squares", pl.col("positives_squares"))
    return [pos.alias("pos"), _added("fp_squares").alias("neg")]


def _with_influence(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Add the area of each step, and the influence of its rows: ``on_positive, on_negative``.

    The row that opens a segment stands for its rows that are never retrieved: no precision is won
    with a positive one, and nothing is lost by a negative one.
    """
    rate = pl.when(~_OPENS).then(_GAIN / _RETRIEVED)
    wins, costs = rate * _ERROR, rate * (_TP / _RETRIEVED)
    area = pl.when(~_OPENS).then(step_area(_GAIN, _TP, _FP, _POSITIVES))
    step, shortfall, raised, lowered = (
        pl.col(name) for name in ("step", "shortfall", "raised", "lowered")
    )
    # Precision less the average precision, or what each lacks of 1: by the smaller of the two, of
    # which no digit is lost. It is exactly 0 where none lacks any.
    precision = pl.when(_OPENS).then(0.0).otherwise(_TP / _RETRIEVED)
    above = pl.when(step < 0.5).then(precision - step).otherwise(shortfall - _ERROR)  # noqa: PLR2004
    # Steps come in ranking order: a window over sorted segments need not look for them.
    return (
        steps.with_columns(pl.col("segment").set_sorted())
        .with_columns(
            gain=_added("tp", _POSITIVES),
            losses=_added("fp"),
            error=pl.when(_OPENS).then(1.0).otherwise(_FP / _RETRIEVED),
        )
        .with_columns(
            step=total(area).over("segment"),
            shortfall=total(_GAIN / _POSITIVES * _ERROR).over("segment"),
            raised=wins.cum_sum(reverse=True).over("segment"),
            lowered=costs.cum_sum(reverse=True).over("segment"),
        )
        .with_columns(
            on_positive=(above + pl.when(_OPENS).then(0.0).otherwise(raised)) / _POSITIVES,
            on_negative=pl.when(_OPENS).then(0.0).otherwise(-lowered) / _POSITIVES,
        )
    )


def _added(running_sum: str, total: pl.Expr | None = None) -> pl.Expr:
    """Return what each step adds to a running sum, and first what is missing to the total."""
    never = 0 if total is None else total - pl.col(running_sum).max().over("segment")
    return pl.when(_OPENS).then(never).otherwise(pl.col(running_sum).diff())


# --- single rows ---------------------------------------------------------------------------


def with_row_influence(frame: pl.LazyFrame, rows: Rows, score: str, name: str) -> pl.LazyFrame:
    """Add how far each row, by its weight, moves the average precision of ``rows``.

    Parameters
    ----------
    frame
        Rows to add the column to, with the keys of ``rows``, ``truth`` and maybe ``weight``.
    rows
        The rows whose average precision is moved.
    score
        The column in which ``frame`` has the score of ``rows``.
    name
        The name of the new column.
    """
    on = [*rows.keys, score]
    table = _by_score(rows).rename({"score": score})
    weight = pl.col("weight") if rows.columns.weighted else 1
    influence = pl.when("truth").then("on_positive").otherwise("on_negative")
    # The ranking knows no -0.0, and a join may tell it from 0.0.
    scored = frame.with_columns(unsigned_zero(pl.col(score), rows.score_dtype))
    joined = join(scored, table, on=on, how="left", nulls_equal=True)
    return joined.with_columns((weight * influence).alias(name)).drop("on_positive", "on_negative")


def _by_score(rows: Rows) -> pl.LazyFrame:
    """Return the influence at each score; a null score is that of the rows never retrieved."""
    ranking = rank(rows)
    scored = ranking.segments.with_keys(ranking.with_score(_with_influence(points(ranking))))
    score = pl.when(~_OPENS).then(pl.col("score")).alias("score")
    return scored.select(*rows.keys, score, "on_positive", "on_negative")
