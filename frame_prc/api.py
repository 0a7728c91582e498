"""The verbs: signatures, documentation, and the way from a frame to a result and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import get_args

import polars as pl

from frame_prc import _areas, _counts, _curve, _frames, _rows
from frame_prc._columns import resolve
from frame_prc._curve import Keep, Start
from frame_prc._frames import FrameT
from frame_prc._request import (
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
    Request,
    check_option,
    request,
)


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
) -> FrameT:
    """Positives and negatives at each distinct score of each segment.

    Counts are all that a curve or an area needs, and they add up: count files or days apart,
    concatenate, and pass the result on with ``score="threshold", pos="pos", neg="neg"``.

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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out. ``"unretrieved"``: rows without a score stay in the
        totals as never found, at no threshold; a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score, in its own dtype), ``pos`` and ``neg`` (Int64;
        Float64 if weighted). Sorted by the keys, then by threshold descending. Rows never
        retrieved come last in their segment with a null threshold.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

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
    asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
    return _run(frame, asked, _counts.COLUMNS, _counts.counts)


def curve(
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
    start: Start = "one",
    keep: Keep = "all",
    envelope: bool = False,
) -> FrameT:
    """Exact precision-recall curve of each segment: one row per distinct score.

    A row is predicted positive at a threshold when ``score >= threshold``.

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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out. ``"unretrieved"``: rows without a score stay in the
        totals as never found, at no threshold; a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.
    start
        The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``: precision 1,
        as scikit-learn and yardstick. ``"first"``: the precision of the first real point, as
        precrec, PRROC and Spark. ``None``: no such row.
    keep
        ``"all"``: every point. ``"corners"``: only the first and the last point of each number of
        true positives, which draw the same line and have the same areas and envelope.
    envelope
        Add a column ``envelope``: the largest precision from this point on, at higher recall
        (PASCAL VOC 2010, Detectron).

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score's float dtype; Float64 for integers and decimals),
        ``tp, fp, fn, tn`` (Int64; Float64 if weighted), ``precision, recall`` (Float64, from 0 to
        1) and, if asked for, ``envelope``. Sorted by the keys, then by threshold descending, so
        recall ascends and the rows draw as they lie. Recall is null in a segment without positives.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> df.prc.curve("late", "score")
    shape: (4, 7)
    ┌───────────┬─────┬─────┬─────┬─────┬───────────┬────────┐
    │ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ precision ┆ recall │
    │ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---       ┆ ---    │
    │ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64       ┆ f64    │
    ╞═══════════╪═════╪═════╪═════╪═════╪═══════════╪════════╡
    │ inf       ┆ 0   ┆ 0   ┆ 2   ┆ 2   ┆ 1.0       ┆ 0.0    │
    │ 0.9       ┆ 1   ┆ 0   ┆ 1   ┆ 2   ┆ 1.0       ┆ 0.5    │
    │ 0.4       ┆ 2   ┆ 1   ┆ 0   ┆ 1   ┆ 0.666667  ┆ 1.0    │
    │ 0.2       ┆ 2   ┆ 2   ┆ 0   ┆ 0   ┆ 0.5       ┆ 1.0    │
    └───────────┴─────┴─────┴─────┴─────┴───────────┴────────┘
    """
    check_option("start", start, ("one", "first", None))
    check_option("keep", keep, get_args(Keep))
    check_option("envelope", envelope, (True, False))
    asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
    outputs = [*_curve.COLUMNS, _curve.ENVELOPE] if envelope else _curve.COLUMNS
    return _run(
        frame,
        asked,
        outputs,
        lambda rows: _curve.curve(rows, start=start, keep=keep, envelope=envelope),
    )


def average_precision(
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
) -> FrameT:
    """Average precision of each segment, beside its size and prevalence.

    The step area under the precision-recall curve, ``sum((R_n - R_(n-1)) * P_n)`` over the distinct
    scores in descending order, as scikit-learn's ``average_precision_score``.

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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, and counted in a column ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``n`` and ``n_pos`` (rows and positive rows, Int64; their total weight,
        Float64, if weighted), ``prevalence`` (``n_pos / n``), ``average_precision`` (Float64, from
        0 to 1) and ``status``: ``"ok"``, ``"no_negatives"`` (the average precision is 1),
        ``"no_positives"`` or ``"empty"`` (it is null). Sorted by the keys. Without ``by`` there is
        one row, also for no rows at all.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

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
    >>> df.prc.average_precision("late", "score", by="region")
    shape: (2, 6)
    ┌────────┬─────┬───────┬────────────┬───────────────────┬────────┐
    │ region ┆ n   ┆ n_pos ┆ prevalence ┆ average_precision ┆ status │
    │ ---    ┆ --- ┆ ---   ┆ ---        ┆ ---               ┆ ---    │
    │ str    ┆ i64 ┆ i64   ┆ f64        ┆ f64               ┆ str    │
    ╞════════╪═════╪═══════╪════════════╪═══════════════════╪════════╡
    │ north  ┆ 3   ┆ 2     ┆ 0.666667   ┆ 0.833333          ┆ ok     │
    │ south  ┆ 2   ┆ 1     ┆ 0.5        ┆ 0.5               ┆ ok     │
    └────────┴─────┴───────┴────────────┴───────────────────┴────────┘
    """
    asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
    outputs = _areas.columns(missing)
    return _run(frame, asked, outputs, _areas.average_precision)


def _run(
    frame: FrameT,
    request: Request,
    outputs: Iterable[str],
    verb: Callable[[_rows.Rows], pl.LazyFrame],
) -> FrameT:
    def plan(lf: pl.LazyFrame) -> pl.LazyFrame:
        return verb(_rows.read(lf, resolve(lf, request, outputs)))

    return _frames.apply(frame, plan, request.column_names(), request.amount_names())
