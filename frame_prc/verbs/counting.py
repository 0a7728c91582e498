"""Counts: from rows, from parts, in bins, and of each class against the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from frame_prc._request.parameters import verb
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
from frame_prc.verbs.run import engine_verbs, run

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
    thresholds: int | Sequence[float] | None = None,
    pos_squares: IntoColumn | None = None,
    neg_squares: IntoColumn | None = None,
    squares: bool = False,
) -> FrameT:
    """Positives and negatives at each distinct score, or in each bin, of each segment.

    Counts are all that a curve or an area needs, and they add up: count files or days apart, add
    them up with :func:`frame_prc.merge_counts`, and pass the result on with
    ``score="threshold", pos="pos", neg="neg"``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        Column of scores, any numeric dtype, higher means more likely positive. A list of columns,
        or ``{name: column}``, evaluates several models; the result then begins with a key column
        ``model``.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it all rows
        are one segment.
    weight
        Column of sample weights, finite and 0 or more. A row of weight 0 is ignored, also where its
        truth or score is missing. Other weights are at least 1e-150; their sum is below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own. ``"unretrieved"``: rows without
        a score stay in the totals as never found, at no threshold; a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1, for probabilities: scores below 0, or above 1.001, are then an error. Thresholds that
        are equal in the score's dtype are one. :func:`frame_prc.quantile_thresholds` finds a list
        that shares out the rows. A score is in the bin of the highest threshold it reaches, and one
        that reaches none is an error. This takes one pass over the rows, and memory for the counts
        alone.
    pos_squares, neg_squares
        Columns of the sums of squared weights that go with ``pos`` and ``neg``, if those are sums
        of weights; they are added up likewise.
    squares
        Add ``pos_squares`` and ``neg_squares``, the sums of squared weights, which an interval of
        the average precision needs beside sums of weights. Counts of rows are their own squares.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score, in its own dtype), ``pos`` and ``neg``, and the
        squares if asked for (Int64; Float64 if weighted). Sorted by the keys, then by threshold
        descending. Rows never retrieved come last in their segment with a null threshold. Bins are
        from ``threshold`` to ``below``, which is not in them and follows it, as floats; only bins
        that hold rows appear.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    Also takes a DuckDB relation or a PySpark DataFrame, with columns given by name, and returns the
    same, not yet computed: the engine does all the work, and reports what must not be swallowed as
    an error of its own when it meets it. DuckDB's result is sorted, Spark's is not. There are no
    ``squares``, and no more than 1,000 ``thresholds``.

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
    bins = bins_of(thresholds)
    asked = request(
        truth,
        score,
        by=by,
        weight=weight,
        pos_label=pos_label,
        missing=missing,
        pos=pos,
        neg=neg,
        pos_squares=pos_squares,
        neg_squares=neg_squares,
    )
    if engine := engine_of(frame):
        verbs = engine_verbs(engine, asked, squares=squares)
        return cast("FrameT", verbs.counts(engine, frame, asked, bins))
    return run(frame, asked, Counts(bins, squares))


@verb
def merge_counts(*frames: FrameT) -> FrameT:
    """Add up counts of parts into the counts of the whole.

    Parameters
    ----------
    frames
        Frames of one kind, as :func:`frame_prc.counts` returns them: the same keys, in the same
        dtypes, and either exact or in the same bins.

    Returns
    -------
    Same kind as ``frames``
        Counts with the columns of the first frame, sorted by the keys, then by threshold
        descending: what counting all rows together would have given, exactly for integers.

    Raises
    ------
    OptionError, ColumnError, FrameError
        At the call: no frames, or frames of different kinds, columns or dtypes.
    DataError
        When the result is collected, for bins that overlap, and for counts that are missing or
        negative.

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
        check_frame(frame, takes_counts=False)
    return apply_all(frames, merge, Counts().reserved)


@verb
def quantile_thresholds(frame: AnyFrame, score: IntoColumn, number: int) -> list[float]:
    """Find thresholds between which about equally many rows lie, in one pass over the scores.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``. A lazy frame is read here.
    score
        Column of scores, any numeric dtype. Null and NaN are passed over.
    number
        How many thresholds to find, from 2 on.

    Returns
    -------
    list of float
        Ascending thresholds, the first of them the lowest score. There are fewer than asked for
        where many scores are equal, within a thousandth of each other. Where positives are rare
        most rows have low scores, and so most thresholds are low, where a curve needs few: then the
        thresholds that share out the positive rows tell more, after ``float("-inf")``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        For a score that is no numeric column, or a number that is none.
    DataError
        Where there is no score at all.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"score": [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]})
    >>> frame_prc.quantile_thresholds(df, "score", 4)
    [0.125, 0.375, 0.625, 0.875]
    """
    check_frame(frame, takes_counts=False)
    in_memory = not isinstance(frame, pl.LazyFrame)
    scores = scan(frame, names_of([score]) or None)
    return find_thresholds(scores, score, threshold_number(number), in_memory=in_memory)


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
    """Turn a score column per class into one long frame with a key ``label``.

    The result goes into every verb with ``by="label"``: one curve per class, and averages over the
    classes with ``over="label"``.

    A row without a score for one class is incomplete for that class alone: a verb with
    ``missing="drop"`` leaves it out there, and keeps it for the other classes. yardstick leaves it
    out for all classes; to do the same, drop such rows before the call.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Multiclass: the column of classes. Multilabel: a list of columns, Boolean or 0/1, one per
        label.
    score
        Multiclass: ``{class: column}``. Multilabel: a list of columns, or ``{label: column}``, in
        the order of ``truth``; without names the labels are the names of the truth columns.
    by
        Segment keys to carry along: a column, an expression, a selector, or a list of them.
    weight
        Column of sample weights to carry along.
    row
        Column that identifies a row, to carry along, for averages over the labels of a row.

    Returns
    -------
    Same kind as ``frame``
        The columns of ``row`` and ``by``, then ``label`` (the dtype of ``truth``; String for
        several truths), ``truth`` (Boolean; of several truths the dtype that all have, or
        Float64), ``score``, and the column of ``weight``. All rows of the first label come first.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled, or the numbers of truth
        and score columns differ.
    DataError
        When the result is collected, if a class occurs that has no score column, or one of several
        truths is neither 0 nor 1.

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
