"""Counts: from rows, from parts, in bins, and of each class against the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from frame_prc._curves.counts import Counts, merge
from frame_prc._engines.engine import engine_of
from frame_prc._frames.border import FrameT, apply, apply_all, check_frame, scan
from frame_prc._ranking.bins import find_thresholds
from frame_prc._request.options import (
    bins_of,
    threshold_number,
)
from frame_prc._request.roles import check_option, names_of, request
from frame_prc._request.specs import (
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
)
from frame_prc._rows import one_vs_rest as _labels
from frame_prc._rows.one_vs_rest import label_request
from frame_prc.exceptions import FrameError, OptionError, type_name
from frame_prc.verbs.run import engine_plans, engine_verbs, run
from frame_prc.verbs.verb import verb

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


@verb
def counts(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    pos_label: object = None,
    missing: Missing = "raise",
    pos: IntoColumn | None = None,
    neg: IntoColumn | None = None,
    ascending: bool = False,
    model: IntoColumn | None = None,
    thresholds: int | Sequence[float] | None = None,
    pos_squares: IntoColumn | None = None,
    neg_squares: IntoColumn | None = None,
    squares: bool = False,
) -> FrameT:
    """Positives and negatives at each score, or in each bin.

    Counts are all that a curve or an area needs, and counts of parts can be added up. Count files
    or days separately, add the counts up with :func:`frame_prc.merge_counts`, and pass the result
    to any verb with ``score="threshold", pos="pos", neg="neg"``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: one row per item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        Column of scores, of any numeric dtype; higher means more likely positive. Pass a list of
        columns, or ``{name: column}``, to evaluate several models; the result then begins with a
        key column ``model``.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it, all rows
        are one segment. A list of lists, such as ``[["region"], ["region", "device"], []]``, makes
        several groupings in one result: a first column ``grouping`` names the keys of each row
        (``"region, device"``; ``"all rows"``), and the keys that it does not have are null.
    weight
        Column of sample weights, non-negative and finite. Rows of weight 0 are ignored, even if
        another of their values is missing; a segment without other rows is not in the result.
        Other weights must be at least 1e-150, and their sum below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; all other values are negative. It is an
        error if the value never occurs.
    missing
        How to treat null, and NaN in truth or score. ``"raise"``: raise an error that counts them.
        ``"drop"``: leave such rows out, separately for each model. ``"unretrieved"``: count a row
        without a score in the totals, as one that no threshold retrieves; a missing truth still
        raises.
    pos, neg
        Columns with the number of positives and of negatives in each row, instead of ``truth``, for
        data that are already aggregated. Rows with the same score are added up. Integers are counts
        of rows; floats are sums of weights, even if all of them are whole numbers.
    ascending
        ``True`` if a lower score means more likely positive, as for distances and ranks. A row is
        then predicted positive if ``score <= threshold``, and thresholds ascend along a curve, from
        ``-inf`` at the start point. Where this text speaks of the highest score or threshold, the
        lowest is meant, and the reverse. Thresholds are on the scale of the scores as given.
    model
        Column that names the model of each row, for long data with a row per item and model;
        ``score`` is then one column. It becomes the first key of the result, called ``model``.
    thresholds
        Bin the scores: an ascending list of thresholds, or how many to space equally from 0 to 1. A
        number is for probabilities: scores below 0 or above 1.001 are then an error. Thresholds
        that are equal in the dtype of the scores are merged. :func:`frame_prc.quantile_thresholds`
        finds a list that divides the rows evenly. A score is in the bin of the highest threshold
        that it reaches; a score below the lowest threshold is an error. Binning takes one pass over
        the rows, and memory only for the counts.
    pos_squares, neg_squares
        Columns with the sums of squared weights that belong to ``pos`` and ``neg``, if these are
        sums of weights; they are added up as well.
    squares
        Add ``pos_squares`` and ``neg_squares``, the sums of squared weights. An interval of the
        average precision needs them beside sums of weights. Without weights they equal the counts.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score, in its own dtype), ``pos`` and ``neg``, and the
        squares if requested (Int64; Float64 if weighted). Sorted by the keys, then by threshold
        descending. Rows that are never retrieved come last in their segment, with a null threshold.
        With ``thresholds``, a column ``below`` follows ``threshold``, both as floats: a bin holds
        the scores from ``threshold`` up to, but not including, ``below``. Only bins with rows are
        returned. With ``ascending``, thresholds ascend, and a column ``above`` replaces ``below``:
        a bin holds the scores above it, up to ``threshold``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters and for columns that do not exist or have the wrong
        dtype.
    DataError
        If the data contain invalid values. For a lazy frame, when the result is collected.

    Notes
    -----
    Also takes a DuckDB relation, a PySpark DataFrame or an Ibis table, with columns given by name.
    The result is a lazy frame of the same engine, which does all the work and reports invalid data
    with an error of its own; the values of an Ibis table are checked at the call, by one query with
    one row. Results of DuckDB and Ibis are sorted, Spark's is not. There, ``squares`` is not
    available, and ``thresholds`` is limited to 1,000.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> df.prc.counts("late", "score")
    shape: (3, 3)
    ┌───────────┬─────┬─────┐
    │ threshold ┆ pos ┆ neg │
    │ ---       ┆ --- ┆ --- │
    │ f64       ┆ i64 ┆ i64 │
    ╞═══════════╪═════╪═════╡
    │ 0.9       ┆ 1   ┆ 0   │
    │ 0.4       ┆ 1   ┆ 1   │
    │ 0.2       ┆ 0   ┆ 1   │
    └───────────┴─────┴─────┘
    """
    check_frame(frame, engines=True)
    squares = check_option("squares", squares, (True, False))
    bins = bins_of(thresholds, ascending=ascending)
    asked = request(
        truth,
        score,
        by=by,
        weight=weight,
        pos_label=pos_label,
        missing=missing,
        pos=pos,
        neg=neg,
        ascending=ascending,
        model=model,
        pos_squares=pos_squares,
        neg_squares=neg_squares,
    )
    if engine := engine_of(frame):
        verbs = engine_verbs(engine, asked, {"squares": squares})
        return cast("FrameT", verbs.counts(engine, frame, asked, bins))
    return run(frame, asked, Counts(bins, squares))


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
        merged = engine_plans(engine).merge_counts(engine, frames, ascending=ascending)
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
        Multiclass: the column of classes. Multilabel: a list of columns, Boolean or 0/1, one per
        label.
    score
        Multiclass: ``{class: column}``. Multilabel: a list of columns, or ``{label: column}``, in
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
    shape: (2, 6)
    ┌───────┬─────┬───────┬────────────┬───────────────────┬────────┐
    │ label ┆ n   ┆ n_pos ┆ prevalence ┆ average_precision ┆ status │
    │ ---   ┆ --- ┆ ---   ┆ ---        ┆ ---               ┆ ---    │
    │ str   ┆ i64 ┆ i64   ┆ f64        ┆ f64               ┆ str    │
    ╞═══════╪═════╪═══════╪════════════╪═══════════════════╪════════╡
    │ cat   ┆ 3   ┆ 2     ┆ 0.666667   ┆ 0.833333          ┆ ok     │
    │ dog   ┆ 3   ┆ 1     ┆ 0.333333   ┆ 0.5               ┆ ok     │
    └───────┴─────┴───────┴────────────┴───────────────────┴────────┘
    """
    check_frame(frame, takes_counts=False)
    asked = label_request(truth, score, by, weight, row)

    def plan(lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
        return _labels.one_vs_rest(lf, asked, in_memory=in_memory)

    return apply(frame, plan, asked.column_names(), frozenset(), _labels.COLUMNS)
