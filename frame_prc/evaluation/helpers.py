"""Helpers beside the evaluation: counts that add up, classes in long form, and expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._engines.engine import engine_of
from frame_prc._frames.border import FrameT, apply_all, check_frame, scan, scan_all, source_of
from frame_prc._frames.pandas_frames import Labels
from frame_prc._lazy import named
from frame_prc._ranking.ranking import find_thresholds
from frame_prc._request.options import f_scores_and_steps, seed_of, threshold_number, whole
from frame_prc._request.roles import check_column, check_option, names_of
from frame_prc._request.specs import IntoColumn, IntoKeys
from frame_prc._rows.rules import LARGEST_WEIGHT, SMALLEST_WEIGHT
from frame_prc.evaluation.base import engine_plans, verb
from frame_prc.exceptions import FrameError, OptionError, type_name

if TYPE_CHECKING:
    from altair.typing import ChartType

    from frame_prc._frames.border import AnyFrame


@verb
def plot_table(
    frame: FrameT,
    *,
    title: str | None = None,
    dark: bool = False,
    size: int | tuple[int, int] | None = None,
) -> ChartType:
    """Draw a table that a verb returned: intervals, periods, thresholds.

    The table tells which chart it is: a row with its interval for each segment or pair of models
    (comparisons, ``average_precision(ci=0.95)``, ``find_segments``), what segments are and probably
    are (``shrunk``), periods with their limit (``monitor``), the share of positives over the mean
    score (``reliability``), or precision and recall over alerts (``threshold_table``). Of a table
    without ``measure`` it is the average precision. Needs Altair: ``pip install altair``.

    Parameters
    ----------
    frame
        A table that a verb returned.
    title
        Title above the chart. By default it says what the table is.

    Returns
    -------
    altair.LayerChart, altair.FacetChart or altair.HConcatChart
        The chart, which shows itself in a notebook and has ``save("name.png")``.

    Raises
    ------
    FrameError, OptionError
        For a table of another kind, invalid options, or without Altair.
    DataError
        If there are more than 200 rows or 24 panels.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"row": range(300)}).with_columns(
    ...     region=pl.col("row") % 3,
    ...     late=pl.col("row") * 7 % 11 < 4,
    ...     score=pl.col("row") * 7919 % 601,
    ... )
    >>> table = df.prc.compare_segments("late", "score", by="region")
    >>> chart = table.prc.plot_table(title="Regions")
    >>> type(chart).__name__
    'LayerChart'
    """
    from frame_prc._charts.options import chart_look, check_altair

    check_frame(frame, takes_counts=False, is_result=True)
    check_altair("plot_table")
    from frame_prc._charts.results import draw_result  # now that Altair is there

    look = chart_look(dark, title, size)
    return draw_result(scan_all(frame).collect(), look)


@verb
def merge_counts(*frames: FrameT, ascending: bool = False) -> FrameT:
    """Add up counts of parts into the counts of the whole.

    Parameters
    ----------
    frames
        Frames of one kind, as :func:`frame_prc.counts` returns them: with the same keys, in the
        same dtypes, and either exact or in the same bins.
    ascending
        ``True`` for counts with ``ascending``: their thresholds ascend.

    Returns
    -------
    Same kind as ``frames``
        Counts with the columns of the first frame, sorted by the keys, then by threshold
        descending, or with ``ascending`` ascending. They equal the counts of all rows together,
        exactly for integers.

    Raises
    ------
    OptionError, ColumnError, FrameError
        At the call, without frames, or for frames of different kinds, columns or dtypes.
    DataError
        If bins overlap, or counts are missing or negative. For lazy frames, when the result is
        collected.

    Notes
    -----
    Also takes DuckDB relations, PySpark DataFrames or Ibis tables, without squares. The result is a
    lazy frame of the same engine.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> monday = pl.DataFrame({"threshold": [0.9, 0.4], "pos": [1, 1], "neg": [0, 1]})
    >>> tuesday = pl.DataFrame({"threshold": [0.9, 0.2], "pos": [2, 0], "neg": [1, 3]})
    >>> frame_prc.merge_counts(monday, tuesday)
    shape: (3, 3)
    ┌───────────┬─────┬─────┐
    │ threshold ┆ pos ┆ neg │
    │ ---       ┆ --- ┆ --- │
    │ f64       ┆ i64 ┆ i64 │
    ╞═══════════╪═════╪═════╡
    │ 0.9       ┆ 3   ┆ 1   │
    │ 0.4       ┆ 1   ┆ 1   │
    │ 0.2       ┆ 0   ┆ 3   │
    └───────────┴─────┴─────┘
    """
    from frame_prc._curves.curve import Counts, merge

    if not frames:
        raise OptionError("no counts are given", "one or more frames")
    for frame in frames:
        if isinstance(frame, (list, tuple)):
            raise FrameError(
                f"merge_counts takes frames, got a {type_name(frame)} of them",
                "each frame as an argument",
                "merge_counts(*frames)",
            )
        check_frame(frame, engines=True, takes_counts=False)
    ascending = check_option("ascending", ascending, (True, False))
    engines = {engine_of(frame) for frame in frames}
    engine = engines.pop()
    if engine and not engines:
        merged = engine_plans(engine).curves.merge_counts(engine, frames, ascending=ascending)
        return cast("FrameT", merged)
    return apply_all(frames, partial(merge, ascending=ascending), Counts().reserved)


@verb
def quantile_thresholds(
    frame: AnyFrame, score: IntoColumn, number: int, *, ascending: bool = False
) -> list[float]:
    """Thresholds that divide the rows into about equal parts.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame. A lazy frame is read
        here.
    score
        Column of scores, of any numeric dtype. Null and NaN are skipped.
    number
        How many thresholds to find, 2 or more.
    ascending
        ``True`` if a lower score means more likely positive, as for distances and ranks: the
        thresholds then cover all scores from above, as bins up to a threshold need.

    Returns
    -------
    list of float
        Ascending thresholds, the first of them the lowest score (with ``ascending``, the last of
        them the highest). There are fewer than ``number`` if
        many scores are equal to within a thousandth. If positives are rare, most rows have low
        scores, so most thresholds are low, where a curve needs few. Thresholds that divide only the
        positive rows, after ``float("-inf")``, then describe the curve better.

    Raises
    ------
    ColumnError, OptionError, FrameError
        If ``score`` is not numeric, or ``number`` is not an integer of 2 or more.
    DataError
        If there are no scores.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"score": [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]})
    >>> frame_prc.quantile_thresholds(df, "score", 4)
    [0.125, 0.375, 0.625, 0.875]
    """
    check_frame(frame, takes_counts=False)
    ascending = check_option("ascending", ascending, (True, False))
    in_memory = not isinstance(frame, pl.LazyFrame)
    found = threshold_number(number)
    score = Labels(frame).name(score)
    scores = scan(frame, names_of([score]) or None)
    return find_thresholds(scores, score, found, ascending=ascending, in_memory=in_memory)


@verb
def one_vs_rest(
    frame: FrameT,
    truth: IntoColumn | Sequence[IntoColumn],
    score: Mapping[Any, IntoColumn] | Sequence[IntoColumn],
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    row: IntoColumn | None = None,
) -> FrameT:
    """Turn one score column per class into one long frame with a key ``label``.

    Pass the result to any verb with ``by="label"`` for one curve per class, and add
    ``over="label"`` to average over the classes.

    A row without a score for one class is incomplete only for that class: a verb with
    ``missing="drop"`` leaves it out there and keeps it for the other classes. yardstick leaves it
    out for all classes; to do the same, drop such rows before the call.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: one row per item.
    truth
        Multiclass: the column of classes; multilabel: a list of columns, Boolean or 0/1, one per
        label.
    score
        Multiclass: ``{class: column}``; multilabel: a list of columns, or ``{label: column}``, in
        the order of ``truth``. From a list, the labels are the names of the truth columns.
    by
        Segment keys to keep: a column, an expression, a selector, or a list of them.
    weight
        Column of sample weights to keep.
    row
        Column that identifies a row, to keep, for averages over the labels of a row.

    Returns
    -------
    Same kind as ``frame``
        The columns of ``row`` and ``by``, then ``label`` (the dtype of ``truth``; String for
        several truth columns), ``truth`` (Boolean; for several truth columns their common dtype, or
        Float64), ``score``, and the column of ``weight``. All rows of the first label come first.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters, for columns that do not exist or have the wrong dtype,
        and if the numbers of truth and score columns differ.
    DataError
        If a class has no score column, or one of several truth columns holds values other than 0
        and 1. For a lazy frame, when the result is collected.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {"kind": ["cat", "dog", "cat"], "p_cat": [0.9, 0.6, 0.5], "p_dog": [0.1, 0.4, 0.5]}
    ... )
    >>> long = df.prc.one_vs_rest("kind", {"cat": "p_cat", "dog": "p_dog"})
    >>> long.prc.average_precision("truth", "score", by="label")
    shape: (2, 5)
    ┌───────┬─────┬───────┬───────────────────┬────────┐
    │ label ┆ n   ┆ n_pos ┆ average_precision ┆ status │
    │ ---   ┆ --- ┆ ---   ┆ ---               ┆ ---    │
    │ str   ┆ i64 ┆ i64   ┆ f64               ┆ str    │
    ╞═══════╪═════╪═══════╪═══════════════════╪════════╡
    │ cat   ┆ 3   ┆ 2     ┆ 0.833333          ┆ ok     │
    │ dog   ┆ 3   ┆ 1     ┆ 0.5               ┆ ok     │
    └───────┴─────┴───────┴───────────────────┴────────┘
    """
    from frame_prc._rows import reshaped

    check_frame(frame, takes_counts=False)
    labels = Labels(frame)
    asked = reshaped.label_request(*map(labels.name, (truth, score, by, weight, row)))

    source = source_of(frame, asked.column_names())
    long = reshaped.one_vs_rest(source.lf, asked, in_memory=source.in_memory)
    return cast("FrameT", labels.back(source.result(long, reshaped.LABEL_COLUMNS)))


@verb
def sample_to_label(
    frame: FrameT,
    score: IntoColumn | Sequence[IntoColumn],
    n: int,
    *,
    by: IntoKeys | None = None,
    ascending: bool = False,
    seed: int | None = 0,
) -> FrameT:
    """Rows to label, most of them at high scores, with the weight of each.

    Label them, and pass weight and stratum on: ``labelled.prc.evaluate("truth", "score",
    weight="weight", strata="stratum")``. What is then computed is that of all rows, with an
    interval, which is too wide where more than a tenth of them is drawn. In simulations the average
    precision had .1 to .6 of the variance that it has with as many rows drawn evenly, the less the
    rarer positives are.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: a row per item.
    score
        Column of scores, or a list of those of several models, which are then all served.
    n
        How many rows to draw, of each segment; all of one that has no more.
    by
        Keys of the segments, as in :func:`evaluate`.
    ascending
        ``True`` if a lower score means more likely positive.
    seed
        An integer for the random start; ``None`` draws anew each time.

    Returns
    -------
    Same kind as ``frame``
        The rows to label in the order they have, with all columns, ``inclusion_probability``,
        ``weight``, 1 over it, and ``stratum``, a number for each eight that follow one another in
        the ranking of a segment, or a few more. A row of rank ``r`` is drawn in proportion to ``1 /
        sqrt(r)``, for certain where that is above 1, and rows of equal score have the lowest of
        their ranks. No weight is above twice that of an even sample.

    Raises
    ------
    ColumnError, OptionError, FrameError
        If a column does not exist or the frame has one that is added, or ``n`` or ``seed`` is not a
        number that it may be.
    DataError
        If scores are missing. For a lazy frame, when the result is collected.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"case": range(1000)}).with_columns(score=1 / (1 + pl.col("case")))
    >>> to_label = frame_prc.sample_to_label(df, "score", 100)
    >>> round(to_label["weight"].sum())  # about as many as there are rows
    1006
    """
    from frame_prc._rows import reshaped

    check_frame(frame, takes_counts=False)
    ascending = check_option("ascending", ascending, (True, False))
    number, start = whole("n", n, 1), seed_of(seed)
    labels = Labels(frame)
    scores, keys = labels.name(score), labels.name(by)

    def plan(frames: list[pl.LazyFrame], *, in_memory: bool) -> pl.LazyFrame:
        return reshaped.sampled(
            frames[0], scores, number, keys, ascending=ascending, seed=start, in_memory=in_memory
        )

    return apply_all([frame], plan, reshaped.SAMPLE_COLUMNS)


@verb
def average_precision_expr(
    truth: str | pl.Expr,
    score: str | pl.Expr,
    weight: str | pl.Expr | None = None,
    *,
    ascending: bool = False,
) -> pl.Expr:
    """Average precision as one Polars expression, for any context that aggregates.

    Use it in ``group_by(...).agg``, ``group_by_dynamic``, ``rolling`` or ``over``. For whole
    frames, :func:`frame_prc.average_precision` is faster, checks the data, and reports sizes.

    Parameters
    ----------
    truth
        Column of the true class: Boolean, or 0/1 numbers.
    score
        Column of scores, of any numeric dtype; higher means more likely positive.
    weight
        Column of sample weights from 1e-70 to 1e70. Rows of weight 0 are ignored.
    ascending
        ``True`` if a lower score means more likely positive, as for distances and ranks.

    Returns
    -------
    Expr
        One Float64 named ``average_precision``, from 0 to 1. It is null without positives. It is
        also null if a row has a missing truth or score, a truth other than 0 and 1, or an invalid
        weight, because an expression cannot raise an error for a group. A column of an unsupported
        dtype fails with an error of Polars.

    Notes
    -----
    Without weights, this is the mean over the positive rows of the precision at their score: the
    rank among the positives divided by the rank among all rows. With weights, it is the sum of
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
    from frame_prc._curves.areas import rank_expression, weighted_expression

    ascending = check_option("ascending", ascending, (True, False))
    truth = _column("truth", truth)
    score = _per_row(_column("score", score), truth)
    undefined = ((truth != 0) & (truth != 1)).fill_null(value=True)
    undefined = undefined | score.is_null() | score.abs().cast(pl.Float64).is_nan()
    if weight is None:
        area = rank_expression(truth == 1, score, ascending=ascending)
    else:
        weight = _per_row(_column("weight", weight), truth).cast(pl.Float64)
        in_range = weight.is_between(SMALLEST_WEIGHT, LARGEST_WEIGHT)
        is_weight = ((weight == 0) | in_range).fill_null(value=False)
        undefined = (undefined & (weight != 0)) | ~is_weight
        area = weighted_expression(truth == 1, score, weight, ascending=ascending)
    return pl.when(~undefined.any()).then(area).alias(AVERAGE_PRECISION)


def _column(role: str, column: str | pl.Expr) -> pl.Expr:
    check_column(role, column)
    return named(column) if isinstance(column, str) else column


def _per_row(column: pl.Expr, truth: pl.Expr) -> pl.Expr:
    # A constant has one value for all rows; ranks need as many as there are rows.
    return pl.when(truth.is_null() | truth.is_not_null()).then(column)


@verb
def iso_f1(f_scores: Sequence[float] = (0.2, 0.4, 0.6, 0.8), points: int = 101) -> pl.DataFrame:
    """Lines of equal F1 score, to draw behind precision-recall curves.

    Parameters
    ----------
    f_scores
        The F1 scores, between 0 and 1.
    points
        Points per line, from 2 to 10,001.

    Returns
    -------
    DataFrame
        ``f_score, recall, precision`` (Float64), one row per point: ``precision = f r / (2 r - f)``
        for recalls ``r`` from ``f / (2 - f)``, where precision is 1, up to 1.

    Raises
    ------
    OptionError
        If an F1 score is not between 0 and 1, or ``points`` is out of range.

    Examples
    --------
    >>> import frame_prc
    >>> frame_prc.iso_f1([0.5], points=3)
    shape: (3, 3)
    ┌─────────┬──────────┬───────────┐
    │ f_score ┆ recall   ┆ precision │
    │ ---     ┆ ---      ┆ ---       │
    │ f64     ┆ f64      ┆ f64       │
    ╞═════════╪══════════╪═══════════╡
    │ 0.5     ┆ 0.333333 ┆ 1.0       │
    │ 0.5     ┆ 0.666667 ┆ 0.4       │
    │ 0.5     ┆ 1.0      ┆ 0.333333  │
    └─────────┴──────────┴───────────┘
    """
    from frame_prc._curves.operating_points import iso_lines

    scores, steps = f_scores_and_steps(f_scores, points)
    return iso_lines(scores, steps)
