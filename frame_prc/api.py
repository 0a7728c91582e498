"""The verbs: signatures, documentation, and the way from a frame to a result and back."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from frame_prc import (
    _areas,
    _averages,
    _bins,
    _bootstrap,
    _chart_rows,
    _compare,
    _counts,
    _curve,
    _curve_frame,
    _frames,
    _ggplot,
    _labels,
    _operating,
    _rows,
    _summary,
    _tables,
)
from frame_prc._areas import Method
from frame_prc._averages import Average
from frame_prc._chart_options import Facet, OperatingPoints, check_altair, drawing, look
from frame_prc._columns import MODEL, collected, named, resolve, with_common_rows
from frame_prc._compare import Adjust, Against, Comparison
from frame_prc._curve import STARTS, Keep, Start
from frame_prc._engines import Engine, check_request, engine_of
from frame_prc._frames import FrameT, check_frame
from frame_prc._gate import LARGEST_WEIGHT, SMALLEST_WEIGHT
from frame_prc._intervals import CiMethod, Interval, normal_quantile
from frame_prc._labels import label_request
from frame_prc._operating import Criterion
from frame_prc._options import (
    Numbers,
    average_over,
    bins_of,
    check_title,
    comparison,
    confidence,
    f_scores_and_steps,
    interval_of,
    method_list,
    points_to_keep,
    prevalence,
    recall_bounds,
    recall_list,
    resampling,
    targets,
    threshold_number,
)
from frame_prc._packages import install_hint
from frame_prc._parameters import verb
from frame_prc._request import (
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
    Request,
    check_column,
    check_option,
    names_of,
    request,
)
from frame_prc.exceptions import FrameError, OptionError, type_name

if TYPE_CHECKING:
    from typing import TypeAlias

    from altair.typing import ChartType

    from frame_prc._frames import AnyFrame

    # What a verb is given beside its frame, in the order of :func:`request`.
    _Given: TypeAlias = tuple[
        IntoColumn | None, IntoScores | None, IntoKeys | None, IntoColumn | None, object, Missing,
        IntoColumn | None, IntoColumn | None,
    ]  # fmt: skip


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
        truth, score, by, weight, pos_label, missing, pos, neg, pos_squares, neg_squares
    )
    if engine := engine_of(frame):
        verbs = _inside(engine, asked, squares=squares)
        return cast("FrameT", verbs.counts(engine, frame, asked, bins))
    return _run(
        frame,
        asked,
        _counts.RESERVED,
        lambda rows: _counts.counts(rows, bins, squares=squares),
    )


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
    return _frames.apply_all(frames, _counts.merge, _counts.RESERVED)


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
    lf, in_memory = (
        _frames.scan(frame, names_of([score]) or None),
        not isinstance(frame, pl.LazyFrame),
    )
    return _bins.quantile_thresholds(lf, score, threshold_number(number), in_memory=in_memory)


@verb
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
    gain: bool = False,
    calibrate: float | None = None,
    thresholds: int | Sequence[float] | None = None,
    ci: float | None = None,
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
    start
        The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``: precision 1,
        as scikit-learn and yardstick. ``"first"``: the precision of the first real point, as
        precrec, PRROC and Spark. ``None``: no such row.
    keep
        ``"all"``: every point. ``"corners"``: only the first and the last point of each number of
        true positives, which draw the same line and have the same areas and envelope. A number
        from 5 on: of these, at most so many in each segment, the start, the end, and the highest
        and the lowest precision among them; ``precision_error`` then says how far the steps drawn
        through them are from the curve at most.
    envelope
        Add a column ``envelope``: the largest precision from this point on, at higher recall
        (PASCAL VOC 2010, Detectron).
    gain
        Add ``precision_gain`` and ``recall_gain``, on which 1 is perfect and 0 is what calling
        every row positive gives (Flach & Kull 2015, NIPS).
    calibrate
        Add ``precision_calibrated``: the precision the same ranking has where this share of rows is
        positive, which makes segments of different prevalence comparable (Siblini et al. 2020,
        arXiv 1909.02827).
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1, for probabilities: scores below 0, or above 1.001, are then an error. Thresholds that
        are equal in the score's dtype are one. A score counts at the highest threshold it reaches;
        rows below the lowest of a list are never retrieved, unless it begins with
        ``float("-inf")``. The curve then has these thresholds in every segment.
    ci
        Add ``precision_low, precision_high``: at each threshold by itself, an interval with this
        probability of covering the precision of the population (Wilson 1927, JASA 22:209), for
        example ``0.95``. Not with weights, whose sums are no counts of rows; for them, and for a
        band to draw, see :func:`band`.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score's float dtype; Float64 for integers and decimals),
        ``tp, fp, fn, tn`` (Int64; Float64 if weighted), ``precision, recall`` (Float64, from 0 to
        1) and the columns asked for. Sorted by the keys, then by threshold descending, so recall
        ascends and the rows draw as they lie. What is not defined is null: recall in a segment
        without positives, precision at a given threshold that no row reaches, gains before the
        first hit, and an interval of precision where no row is retrieved.

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
    ``gain``, ``calibrate``, ``ci`` and ``keep=<number>``, and no more than 1,000 ``thresholds``.

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
    check_frame(frame, engines=True)
    start = check_option("start", start, STARTS)
    kept = points_to_keep(keep)
    envelope = check_option("envelope", envelope, (True, False))
    gain = check_option("gain", gain, (True, False))
    z = None if ci is None else normal_quantile(confidence(ci))
    extras = _curve.Extras(envelope, gain, prevalence(calibrate), z)
    bins = bins_of(thresholds)
    asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
    if engine := engine_of(frame):
        thinned = isinstance(kept, int)
        refused = {"gain": gain, "calibrate": calibrate is not None, "ci": ci is not None}
        verbs = _inside(engine, asked, **refused, keep=thinned)
        points = verbs.curve(engine, frame, asked, start, keep, bins, envelope=envelope)
        return cast("FrameT", points)
    return _run(
        frame,
        asked,
        _curve.columns(extras, kept),
        lambda rows: _curve.curve(rows, start, kept, bins, extras),
    )


@verb
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
    pos_squares: IntoColumn | None = None,
    neg_squares: IntoColumn | None = None,
    over: str | None = None,
    average: Average | None = None,
    thresholds: int | Sequence[float] | None = None,
    bounds: bool = False,
    ci: float | None = None,
    ci_method: CiMethod = "influence",
    cluster: IntoColumn | None = None,
    replicates: int = 1000,
    stratified: bool = False,
    seed: int | None = None,
) -> FrameT:
    """Average precision of each segment, beside its size and prevalence, and how sure it is.

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
        Column of sample weights, finite and 0 or more. A row of weight 0 is ignored, also where its
        truth or score is missing. Other weights are at least 1e-150; their sum is below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    pos_squares, neg_squares
        Columns of the sums of squared weights that go with ``pos`` and ``neg``, for an interval if
        those are sums of weights; ``counts(..., squares=True)`` makes them.
    over
        One of the keys in ``by``, to average over inside the others. Goes with ``average``.
    average
        ``"macro"``: the mean of the segments. ``"weighted"``: their mean weighted by ``n_pos``.
        ``"micro"``: all rows pooled. ``"samples"``: the mean weighted by each segment's mean sample
        weight, for an ``over`` that identifies samples. Segments whose average precision is
        undefined are left out and counted in ``n_undefined``.
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1, for probabilities: scores below 0, or above 1.001, are then an error. Thresholds that
        are equal in the score's dtype are one. A score counts at the highest threshold it reaches;
        rows below the lowest of a list are never retrieved, unless it begins with
        ``float("-inf")``. Results are then those of the binned scores.
    bounds
        Add ``ap_lowest`` and ``ap_highest``, between which the average precision lies in whatever
        order the rows within a tie, or within a bin, really come; for counts of bins, that is how
        far off it can be. What orders attain may lie a little inside. Rows below the lowest of the
        ``thresholds`` are never retrieved here either; where there are none, the average precision
        of the exact scores lies between the bounds too. Always there with ``thresholds``; not for
        averages.
    ci
        Add an interval with this probability of covering the average precision of the population
        that the rows are a sample of, for example ``0.95``.
    ci_method
        ``"influence"``: from how far each row moves the average precision. ``"boyd"``: as if it
        were a share of the positives (Boyd, Eng & Page 2013, doi 10.1007/978-3-642-40994-3_29); it
        takes no weights. ``"bootstrap"``: from how it spreads over ``replicates`` new samples; it
        needs NumPy. All are symmetric on the logit scale. See the notes.
    cluster
        Column that says which rows hang together, such as those of one user or one day; clusters
        are then what is independent. For ``ci`` by ``"influence"`` or ``"bootstrap"`` from single
        rows.
    replicates
        Number of samples that ``ci_method="bootstrap"`` draws, up to 1,000,000; a single one has no
        spread, and the interval is null.
    stratified
        Draw positives and negatives apart, as many of each as there are, as in a sample whose class
        sizes were chosen. Otherwise rows are drawn whatever their class, and prevalence varies with
        them. Not with ``cluster``.
    seed
        An integer for the same ``"bootstrap"`` every time, whatever the kind of frame and the order
        of rows, and whichever other segments there are; ``None`` for a new one.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``n`` and ``n_pos`` (rows and positive rows, Int64; their total weight,
        Float64, if weighted), ``prevalence`` (``n_pos / n``), ``average_precision`` (Float64, from
        0 to 1) and ``status``: ``"ok"``, ``"no_negatives"`` (the average precision is 1,
        or the share of positives that are retrieved), ``"no_positives"`` or ``"empty"`` (it is
        null). Sorted by the keys. Without ``by`` a single model has one row, also for no rows at
        all. Averages have ``n_undefined`` (Int64) for ``status``.

        With ``ci`` also ``std_error, ci_low, ci_high`` (Float64) before ``status``, which for
        ``"ok"`` says ``"few_positives"`` where there are fewer than 20 (by weights, fewer than
        carry as much; by clusters, fewer clusters that hold positives), and for both of these
        ``"below_chance"`` where the whole interval lies below the average precision of a random
        ranking, which is ``random_average_precision`` of :func:`summary`. Is a lower score better?
        Negate it.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    The standard error is the root of the sum of squares of how far each row (with ``cluster``, each
    cluster) moves the average precision, to first order: exact for ties and weights, and the same
    from counts. The interval is as wide as Student's t with ``n_pos - 1`` degrees of freedom
    (effectively, with weights or clusters) has it on the logit scale, and by a factor of
    ``sqrt(n_pos / (n_pos - 1))`` wider, as a standard error that goes with Student's t divides by
    one less. How often it covers was simulated: ``tests/benchmarks`` has the table. With weights it
    is right to 1e-15 times the square of the largest weight over the smallest.

    The bootstrap draws as many rows as there are, with replacement (with ``cluster``, as many
    clusters), and takes the standard deviation of their average precisions as its standard error;
    replicates without positives are left out. ``"influence"`` is its limit for many rows; with
    ``stratified`` it is smaller, for prevalence is then no source of error. Its interval is not
    made of percentiles, for the average precision of a sample with repeated rows is biased upwards:
    simulated with 5 to 20 positives, a 95 % interval of percentiles covers 85 to 94 %, this one 95
    to 99 %.

    At an average precision of 1 or 0 the logit has no width: the standard error is null, and the
    interval that of so many positives which all do alike, from ``((1 - ci) / 2) ** (1 / n_pos)`` to
    1, or the mirror of it; it covers more than it says. By ``"boyd"`` it is null, as is that of 1
    without negatives, which is no finding, and with a single positive (or cluster of them), which
    does not tell how positives differ.

    Also takes a DuckDB relation or a PySpark DataFrame, with columns given by name, and returns the
    same, not yet computed: the engine does all the work, and reports what must not be swallowed as
    an error of its own when it meets it. DuckDB's result is sorted, Spark's is not. There are no
    averages ``over`` a key, no ``ci`` and no bounds, also with ``thresholds``.

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
    check_frame(frame, engines=True)
    asked = request(
        truth, score, by, weight, pos_label, missing, pos, neg, pos_squares, neg_squares, cluster
    )
    bounds = check_option("bounds", bounds, (True, False))
    bins = bins_of(thresholds)
    interval = interval_of(
        ci, ci_method, cluster, resampling(replicates, seed, stratified, cluster)
    )
    if engine := engine_of(frame):
        refused = {"over": over is not None, "average": average is not None, "bounds": bounds}
        verbs = _inside(engine, asked, **refused, ci=interval is not None)
        outputs = _tables.columns(missing, None, bounds=False)
        table = verbs.average_precision(engine, frame, asked, outputs, bins)
        return cast("FrameT", table)
    if over is None and average is None:
        bounded = bounds or bins is not None
        return _run(
            frame,
            asked,
            _tables.columns(missing, interval, bounds=bounded),
            lambda rows: _tables.average_precision(rows, bins, interval, bounds=bounded),
        )
    key, kind = average_over(over, average, interval, bounds=bounds)
    return _run(
        frame,
        asked,
        [*_averages.COLUMNS, *_rows.dropped(missing)],
        lambda rows: _averages.averaged(rows, key, kind, bins),
    )


@verb
def auc(
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
    method: Method | Sequence[Method] = "step",
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
    standardised: bool = False,
    thresholds: int | Sequence[float] | None = None,
) -> FrameT:
    """Area under the precision-recall curve of each segment, by one or several named conventions.

    Ten tools compute ten numbers under the name of PR-AUC; here each has a name. All methods asked
    for come from one sort.

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
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    method
        One method, or a list for one row per segment and method, in this order. See the notes.
    start
        The point at recall 0 that the trapezoid begins with: ``"one"`` (precision 1, as
        scikit-learn and yardstick), ``"first"`` (the precision of the first real point, as Spark)
        or ``None`` (no point: the area begins at the first real one). No other method uses it.
    recall_range
        Only the area between these two recalls, cut exactly, each method by its own interpolation.
        For ``step``, ``trapezoid``, ``interpolated`` and ``envelope``.
    standardised
        Divide by the width of ``recall_range``, so that a perfect curve has 1.
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1, for probabilities: scores below 0, or above 1.001, are then an error. Thresholds that
        are equal in the score's dtype are one. A score counts at the highest threshold it reaches;
        rows below the lowest of a list are never retrieved, unless it begins with
        ``float("-inf")``. Results are then those of the binned scores.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``method`` (String) and ``auc`` (Float64; null without positives, for
        ``gain`` also without negatives). Sorted by the keys, then in the order of ``method``. With
        ``missing="drop"`` also ``n_dropped``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    With P_n and R_n the precision and recall at the n-th highest distinct score:

    - ``step``: ``sum((R_n - R_(n-1)) * P_n)``, the average precision (scikit-learn, torchmetrics,
      ClickHouse).
    - ``trapezoid``: ``sum((R_n - R_(n-1)) * (P_n + P_(n-1)) / 2)``; too optimistic (scikit-learn's
      ``auc`` of a curve, yardstick ``pr_auc``; with ``start="first"`` Spark).
    - ``interpolated``: true and false positives grow linearly between two points (Davis & Goadrich
      2006, doi 10.1145/1143844.1143874; Keilwagen et al. 2014, doi 10.1371/journal.pone.0092209;
      PRROC, xgboost ``aucpr``, Keras).
    - ``envelope``: ``sum((R_n - R_(n-1)) * max(P_m for m >= n))`` (PASCAL VOC 2010, Detectron).
    - ``11-point``, ``101-point``: mean over the recalls 0, .1, ..., 1 (VOC 2007) or 0, .01, ..., 1
      (COCO) of the largest precision at that recall or a higher one.
    - ``gain``: trapezoid of the precision-recall-gain curve (Flach & Kull 2015, NIPS).

    Only ``step`` has an interval from one sort, by :func:`average_precision` with ``ci``. How far
    a row moves the others to first order is not worked out here, and an envelope or a grid, which
    take the largest of several precisions, jump where another becomes the largest: for them
    resample the rows.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {"late": [True, False, False, True, True], "score": [0.9, 0.8, 0.7, 0.6, 0.5]}
    ... )
    >>> df.prc.auc("late", "score", method=["step", "trapezoid", "interpolated", "envelope"])
    shape: (4, 2)
    ┌──────────────┬──────────┐
    │ method       ┆ auc      │
    │ ---          ┆ ---      │
    │ str          ┆ f64      │
    ╞══════════════╪══════════╡
    │ step         ┆ 0.7      │
    │ trapezoid    ┆ 0.655556 │
    │ interpolated ┆ 0.65945  │
    │ envelope     ┆ 0.733333 │
    └──────────────┴──────────┘
    """
    check_frame(frame)
    methods = method_list(method)
    start = check_option("start", start, STARTS)
    standardised = check_option("standardised", standardised, (True, False))
    bounds, bins = recall_bounds(recall_range, methods), bins_of(thresholds)
    return _run(
        frame,
        request(truth, score, by, weight, pos_label, missing, pos, neg),
        [*_areas.METHOD_COLUMNS, *_rows.dropped(missing)],
        lambda rows: _areas.auc(rows, methods, start, bounds, standardised, bins),
    )


@verb
def operating_points(
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
    recall: float | Sequence[float] | None = None,
    precision: float | Sequence[float] | None = None,
    threshold: float | Sequence[float] | None = None,
    f_beta: float | Sequence[float] | None = None,
    predicted_rate: float | Sequence[float] | None = None,
) -> FrameT:
    """Find the threshold of each segment that meets a target best, and what it gives.

    Any number of targets, each a number or a list. Of equally good points it takes the most
    precise, then the one of most recall, then the highest threshold.

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
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    recall
        The most precise point with at least this recall, above 0 and up to 1; of equally precise
        points the one of most recall.
    precision
        The point of most recall with at least this precision, above 0 and up to 1; of points of
        equal recall the most precise.
    threshold
        What this threshold gives, also between scores: one threshold for all segments.
    f_beta
        The point of the largest F score that weighs recall this many times as much as precision.
    predicted_rate
        The largest share of rows predicted positive that is not above this one, above 0 and up to
        1: a budget of alerts. It is spent even where the last alerts find nothing, so a smaller
        share may have the same recall.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``criterion`` (String), ``target`` (Float64), ``threshold``, ``tp, fp, fn,
        tn, precision, recall`` as in :func:`curve`, ``f_score`` (F1, or the F-beta asked for) and
        ``predicted_rate`` (``(tp + fp) / n``). Sorted by the keys, then in the order of the
        parameters above. A target that cannot be met leaves a row of nulls. With
        ``missing="drop"`` also ``n_dropped``.

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
    >>> df.prc.operating_points("late", "score", recall=0.8, f_beta=1).select(
    ...     "criterion", "target", "threshold", "precision", "recall", "f_score"
    ... )
    shape: (2, 6)
    ┌───────────┬────────┬───────────┬───────────┬────────┬─────────┐
    │ criterion ┆ target ┆ threshold ┆ precision ┆ recall ┆ f_score │
    │ ---       ┆ ---    ┆ ---       ┆ ---       ┆ ---    ┆ ---     │
    │ str       ┆ f64    ┆ f64       ┆ f64       ┆ f64    ┆ f64     │
    ╞═══════════╪════════╪═══════════╪═══════════╪════════╪═════════╡
    │ recall    ┆ 0.8    ┆ 0.4       ┆ 0.666667  ┆ 1.0    ┆ 0.8     │
    │ f_beta    ┆ 1.0    ┆ 0.4       ┆ 0.666667  ┆ 1.0    ┆ 0.8     │
    └───────────┴────────┴───────────┴───────────┴────────┴─────────┘
    """
    check_frame(frame)
    asked: dict[Criterion, Numbers] = {
        "recall": recall,
        "precision": precision,
        "threshold": threshold,
        "f_beta": f_beta,
        "predicted_rate": predicted_rate,
    }
    wanted = targets(asked)
    return _run(
        frame,
        request(truth, score, by, weight, pos_label, missing, pos, neg),
        [*_operating.COLUMNS, *_rows.dropped(missing)],
        lambda rows: _operating.operating_points(rows, wanted),
    )


@verb
def compare(
    frame: FrameT,
    truth: IntoColumn,
    score: IntoScores,
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    pos_label: object = None,
    missing: Missing = "raise",
    ci: float = 0.95,
    cluster: IntoColumn | None = None,
    baseline: str | None = None,
    against: Against | None = None,
    adjust: Adjust | None = None,
) -> FrameT:
    """Compare the average precision of models on the same rows, or of a segment with others.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        The models: a list of columns, or ``{name: column}``; higher means more likely positive.
        With ``against`` it may be one column.
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
        ``"drop"``: a row that lacks the score of any model is left out for all of them (with
        ``against``, where each model stands alone, for its own), and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    ci
        Probability with which the interval covers the difference in the population that the rows
        are a sample of.
    cluster
        Column that says which rows hang together, such as those of one user or one day; clusters
        are then what is independent.
    baseline
        The name of a model, to compare each of the others with it and not with each other.
    against
        ``"rest"``: compare each segment with all rows outside of it. The work is rows times
        segments: 400,000 rows in 2,000 segments take a minute or two, and more than 4 billion is an
        error. ``"overall"``: with all rows, of which it is a part. Each model is then compared with
        itself. The average precision grows with the prevalence, so a segment of another prevalence
        differs for that alone.
    adjust
        Add ``p_adjusted``, for as many tests as the result has rows with a p-value: ``"holm"``
        bounds the probability of any false difference, ``"bh"`` (Benjamini & Hochberg 1995) the
        share of false ones.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``model_a, model_b`` (String; with ``against`` that column instead),
        ``n, n_pos`` of the segment as in :func:`average_precision`, ``ap_a, ap_b`` (the average
        precision of the two models; with ``against`` of the segment and of what it is compared
        with), ``difference`` (``ap_a - ap_b``), ``std_error, ci_low, ci_high, p_value`` (Float64;
        two-sided), ``p_adjusted`` if asked for, and ``status`` (String) as in
        :func:`average_precision`; with ``against`` that of the worse side. With ``missing="drop"``
        also ``n_dropped``. Sorted by the keys, then in the order of the models. A baseline is
        ``model_b``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled, or there is nothing to
        compare.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    Each row (with ``cluster``, each cluster) moves the two areas together; the variance is that of
    the difference of the two moves, so what two models find equally hard does not count. The
    interval is symmetric around the difference, and cut at -1 and 1. The p-value is that of the
    difference between the two logits, which keeps its level also where few rows are positive; so it
    may be small, or not, where the interval reaches 0. Both go by Student's t with as many
    degrees of freedom as effective positives ``m``, less one, and by a standard error that is
    ``sqrt(m / (m - 1))`` times as large, as that of Student's t.

    Standard error, interval and p-value are null where there is no spread to judge by: where all
    rows move both areas alike, as for two models that rank alike; with a single positive; and where
    one of the areas is 1 or 0 and there are fewer than 20 positives (with weights or clusters,
    effectively), since such an area shows no spread of its own.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {
    ...         "late": [True, False, True, False, True, False],
    ...         "old": [0.5, 0.8, 0.3, 0.6, 0.7, 0.2],
    ...         "new": [0.9, 0.8, 0.7, 0.4, 0.6, 0.3],
    ...     }
    ... )
    >>> df.prc.compare("late", ["new", "old"]).select(
    ...     "model_a", "model_b", "ap_a", "ap_b", "difference", "std_error", "p_value"
    ... )
    shape: (1, 7)
    ┌─────────┬─────────┬──────────┬──────────┬────────────┬───────────┬─────────┐
    │ model_a ┆ model_b ┆ ap_a     ┆ ap_b     ┆ difference ┆ std_error ┆ p_value │
    │ ---     ┆ ---     ┆ ---      ┆ ---      ┆ ---        ┆ ---       ┆ ---     │
    │ str     ┆ str     ┆ f64      ┆ f64      ┆ f64        ┆ f64       ┆ f64     │
    ╞═════════╪═════════╪══════════╪══════════╪════════════╪═══════════╪═════════╡
    │ new     ┆ old     ┆ 0.805556 ┆ 0.533333 ┆ 0.272222   ┆ 0.179627  ┆ 0.35314 │
    └─────────┴─────────┴──────────┴──────────┴────────────┴───────────┴─────────┘
    """
    check_frame(frame, takes_counts=False)
    asked = request(truth, score, by, weight, pos_label, missing, None, None, cluster=cluster)
    what = comparison(asked, ci, baseline, against, adjust)
    asked = replace(asked, side_by_side=what.against is None)
    outputs = [*what.outputs(), *_rows.dropped(missing)]
    return _run(frame, asked, outputs, lambda rows: _compare.compare(rows, what))


@verb
def band(
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
    recalls: int | Sequence[float] = 101,
    ci: float = 0.95,
    cluster: IntoColumn | None = None,
    replicates: int = 1000,
    stratified: bool = False,
    seed: int | None = None,
) -> FrameT:
    """Precision on a common grid of recalls, with a band to draw around each segment's curve.

    The band is pointwise: at each recall by itself it covers the precision of the population with
    probability ``ci``, and so a whole curve with less. It comes from a bootstrap, which needs
    NumPy.

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
    recalls
        The recalls, the same for every segment: a list of ascending numbers, or a number of them,
        equally spaced from 0 to 1.
    ci
        The probability of covering the precision at each recall.
    cluster
        Column that says which rows hang together, such as those of one user or one day; clusters
        are then what is independent. From single rows.
    replicates
        Number of samples to draw, up to 1,000,000.
    stratified
        Draw positives and negatives apart, as many of each as there are, as in a sample whose class
        sizes were chosen. Otherwise rows are drawn whatever their class, and prevalence varies with
        them. Not with ``cluster``.
    seed
        An integer for the same band every time, whatever the kind of frame and the order of rows,
        and whichever other segments there are; ``None`` for a new one.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``recall``, ``precision, precision_low, precision_high`` (Float64, from 0 to
        1). Precision is that of the highest threshold which reaches the recall, the height of the
        steps whose area the average precision is; it is null where none does. Sorted by the keys,
        then by recall ascending: every segment has the same rows.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled, or NumPy is not installed.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    A replicate draws as many rows as there are, with replacement (with ``cluster``, as many
    clusters). The band lies between two percentiles of the precision over the replicates that reach
    the recall. Simulated with 200 positives, 95 % bands cover 93 to 98 % at the recalls .05 to .95.
    At lower ones a few rows decide, and the band is too narrow: it has no width at all where no
    negative is ranked as high.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {"late": [1, 1, 0, 1, 0, 0, 1, 0] * 20, "score": [8, 7, 6, 5, 4, 3, 2, 1] * 20}
    ... )
    >>> df.prc.band("late", "score", recalls=5, seed=1)
    shape: (5, 4)
    ┌────────┬───────────┬───────────────┬────────────────┐
    │ recall ┆ precision ┆ precision_low ┆ precision_high │
    │ ---    ┆ ---       ┆ ---           ┆ ---            │
    │ f64    ┆ f64       ┆ f64           ┆ f64            │
    ╞════════╪═══════════╪═══════════════╪════════════════╡
    │ 0.0    ┆ 1.0       ┆ 1.0           ┆ 1.0            │
    │ 0.25   ┆ 1.0       ┆ 1.0           ┆ 1.0            │
    │ 0.5    ┆ 1.0       ┆ 0.67049       ┆ 1.0            │
    │ 0.75   ┆ 0.75      ┆ 0.5           ┆ 0.836963       │
    │ 1.0    ┆ 0.571429  ┆ 0.48935       ┆ 0.657386       │
    └────────┴───────────┴───────────────┴────────────────┘
    """
    check_frame(frame)
    grid, level, drawn = (
        recall_list(recalls),
        confidence(ci),
        resampling(replicates, seed, stratified, cluster),
    )
    _bootstrap.check_numpy()
    return _run(
        frame,
        request(truth, score, by, weight, pos_label, missing, pos, neg, cluster=cluster),
        _bootstrap.BAND_COLUMNS,
        lambda rows: _bootstrap.bands(rows, grid, level, drawn),
    )


@verb
def summary(
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
    pos_squares: IntoColumn | None = None,
    neg_squares: IntoColumn | None = None,
    ci: float = 0.95,
    overall: bool = False,
) -> FrameT:
    """Scorecard of each segment in one row: its size, average precision, interval, chance level.

    Of the measures only ``calibrated_average_precision`` is meant to be equal for classifiers that
    are equally good in segments of different prevalence.

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
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    pos_squares, neg_squares
        Columns of the sums of squared weights that go with ``pos`` and ``neg``, for an interval if
        those are sums of weights; ``counts(..., squares=True)`` makes them.
    ci
        The probability with which the interval covers the average precision of the population, of
        which rows are independent; where they hang together, :func:`average_precision` takes
        ``cluster``.
    overall
        Add a row for all rows pooled and a row for the mean of the segments, for each model its
        own, and a column ``level`` before the keys that says which is which: ``"segment"``,
        ``"pooled"`` or ``"macro"``. These rows have null keys.

    Returns
    -------
    Same kind as ``frame``
        The keys, then

        - ``n, n_pos, prevalence`` as in :func:`average_precision`, ``n_dropped`` (Int64; 0 unless
          ``missing="drop"``), and ``status``: ``"ok"``, ``"few_positives"`` (fewer than 20, or by
          weights fewer than carry as much), ``"below_chance"`` (the whole interval lies below
          ``random_average_precision``: is a lower score better? negate it), ``"no_negatives"``,
          ``"no_positives"`` or ``"empty"``;
        - ``average_precision``, and ``std_error, ci_low, ci_high`` as :func:`average_precision`
          gives them by ``ci_method="influence"``;
        - ``random_average_precision``: the mean over all orders of the labels, the scores unmoved,
          which is what a random ranking is expected to have; with weights, the prevalence;
        - ``lift``: the average precision over that of a random ranking, null where this is 0;
        - ``chance_corrected_average_precision``: 0 is a random ranking, 1 a perfect one; null where
          every ranking is perfect;
        - ``normalised_average_precision``: 0 is the worst ranking possible, 1 a perfect one;
        - ``calibrated_average_precision``: what the same ranking has at the prevalence of all rows
          of the model;
        - ``interpolated`` and ``normalised_interpolated``, the area by that method of :func:`auc`;
        - ``gain``, the area by that method of :func:`auc`;
        - ``best_f1`` and ``best_f1_threshold``, the highest threshold that reaches it: null where
          no threshold retrieves a positive, and the best is 0.

        All areas are Float64, and null where they are not defined: without positives, and the
        normalised and calibrated ones and ``gain`` also without negatives. Sorted by the keys.

        With ``overall`` the pooled and then the macro rows follow the segments, and the last column
        is ``n_undefined`` (Int64): how many segments have no average precision and are left out of
        its mean. It is 0 for pooled rows, null for segments. Sizes in a macro row are sums, the
        measures are the means of the segments that have them, and the interval is that of a mean of
        independent segments.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    With prevalence pi, P positives and N negatives:

    - A random ranking exceeds the prevalence where rows or positives are few: on average by a
      factor of 2.9 with 1 positive in 10 rows, 1.8 with 5 in 100, 1.13 with 50 in 1,000. With n_g
      rows in a tie and N_g retrieved at its score, of N rows in all, its average precision is
      ``sum(n_g / N_g * (1 / N + (N_g - 1) * (P - 1) / (N * (N - 1))))`` over the ties that are
      retrieved; without ties it is that of Bestgen 2015, "Exact expected average precision of the
      random baseline for system evaluation". With weights no such formula is known to us, and the
      prevalence stands for it.
    - Chance-corrected is ``(area - random) / (1 - random)``. Below 0, a ranking is worse than a
      random one.
    - ``"below_chance"`` takes the place of ``"few_positives"``: ``n_pos`` still shows that they are
      few, and nothing else would show it in :func:`average_precision`. In simulations with 95 %
      intervals at most 4 % of random scores got it, with 2 to 19 positives as with more.
    - The worst average precision is ``sum(i / (i + N) for i in 1..P) / P``, the worst interpolated
      area ``1 + (1 - pi) / pi * log(1 - pi)`` (Boyd et al. 2012, arXiv 1206.4667); normalised is
      ``(area - worst) / (1 - worst)``. The worst order of weighted rows has no closed form; with
      weights both use the second, below which no ranking falls.
    - The interval needs ``pos_squares`` and ``neg_squares`` where ``pos`` and ``neg`` are sums of
      weights. Without them it is null, and ``status`` says nothing that is told by an interval.
    - Calibrated precision at prevalence pi0 is ``TP / (TP + pi (1 - pi0) / (pi0 (1 - pi)) FP)``
      (Siblini et al. 2020, arXiv 1909.02827).

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
    >>> table = df.prc.summary("late", "score", by="region", overall=True)
    >>> table.select("level", "region", "n", "n_pos", "average_precision", "lift", "best_f1")
    shape: (4, 7)
    ┌─────────┬────────┬─────┬───────┬───────────────────┬──────────┬──────────┐
    │ level   ┆ region ┆ n   ┆ n_pos ┆ average_precision ┆ lift     ┆ best_f1  │
    │ ---     ┆ ---    ┆ --- ┆ ---   ┆ ---               ┆ ---      ┆ ---      │
    │ str     ┆ str    ┆ i64 ┆ i64   ┆ f64               ┆ f64      ┆ f64      │
    ╞═════════╪════════╪═════╪═══════╪═══════════════════╪══════════╪══════════╡
    │ segment ┆ north  ┆ 3   ┆ 2     ┆ 0.833333          ┆ 1.034483 ┆ 0.8      │
    │ segment ┆ south  ┆ 2   ┆ 1     ┆ 0.5               ┆ 0.666667 ┆ 0.666667 │
    │ pooled  ┆ null   ┆ 5   ┆ 3     ┆ 0.7               ┆ 0.961098 ┆ 0.75     │
    │ macro   ┆ null   ┆ 5   ┆ 3     ┆ 0.666667          ┆ 0.850575 ┆ 0.733333 │
    └─────────┴────────┴─────┴───────┴───────────────────┴──────────┴──────────┘
    """
    check_frame(frame)
    overall = check_option("overall", overall, (True, False))
    interval = Interval(confidence(ci))
    return _run(
        frame,
        request(truth, score, by, weight, pos_label, missing, pos, neg, pos_squares, neg_squares),
        _summary.outputs(overall=overall),
        lambda rows: _summary.summary(rows, interval, overall=overall),
    )


@verb
def plot(
    frame: AnyFrame,
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
    ci: float | None = None,
    band: bool = False,
    iso_f1: bool | Sequence[float] = True,
    points: OperatingPoints | None = None,
    roc: bool = False,
    threshold: float | None = None,
    facet: Facet = None,
    dark: bool = False,
    title: str | None = None,
    width: int | None = None,
    height: int | None = None,
) -> ChartType:
    """Draw the precision-recall curve of each segment and model, as an Altair chart.

    Steps whose area is the average precision, the prevalence as a dashed baseline, and the average
    precision in the legend, or above each panel, with its interval where there is one. The point
    nearest the mouse shows its threshold, precision, recall, ``tp`` and ``fp``. Needs Altair:
    ``pip install altair``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item;
        or, without ``truth``, ``score``, ``pos`` and ``neg``, a curve as :func:`curve` returned it
        or as it was read back from a file: its keys are the columns before ``threshold``. A lazy
        frame is read here, once.
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
    start
        The point at recall 0 that opens each segment: ``"one"`` (precision 1), ``"first"`` (the
        precision of the first real point), or ``None`` (no such point). A curve frame opens as it
        does.
    ci
        Draw a ribbon around each curve: at each threshold by itself, an interval with this
        probability of covering the precision (Wilson), as :func:`curve` has it. It is also the
        level of the intervals of the average precision, which is 0.95 without it. Both are those of
        independent rows.
    band
        Draw the ribbon of :func:`band` instead, at the same level: from a bootstrap, at each recall
        by itself. It takes longer, and weights; the seed is always the same.
    iso_f1
        Draw lines of equal F1 score behind the curves: ``True`` for .2, .4, .6 and .8, ``False``
        for none, or a list of up to 9 scores.
    points
        Operating points to mark, up to 6, as :func:`operating_points` takes them: for example
        ``{"recall": 0.9}``, ``{"f_beta": [1, 2]}``.
    roc
        Draw the ROC curve of the same counts beside each panel.
    threshold
        Mark the point at this threshold, and show its confusion counts.
    facet
        The keys that have a panel for each of their values: a name or a list of names; the others
        are told apart by colour, up to 21 in a panel. ``False`` puts all lines into one panel.
        ``None`` leaves it open: models are told apart by colour, and segments have panels; of a
        single model up to 6 segments share one panel, and of two keys or more the last one is told
        apart by colour where it has up to 6 values.
    dark
        Draw light lines on a dark ground.
    title
        What stands above the chart.
    width, height
        The size of a panel in pixels; with one of them given it is a square. Without them the chart
        is up to about 800 pixels wide.

    Returns
    -------
    altair.LayerChart, altair.ConcatChart, altair.HConcatChart or altair.VConcatChart
        ``chart.save("curves.html", inline=True)`` makes a page that needs no network;
        ``curves.svg`` and ``curves.png`` are drawn without one as well. Up to 60 lines; all layers
        together have fewer than the 5,000 rows that Altair takes. Where that leaves out points,
        ``chart.usermeta["frame_prc"]["precision_error"]`` says how far the steps are off at most,
        ``"roc_error"`` the same of ROC curves, and so do the words above the chart from .001 on.
        Segments whose average precision is undefined are named, with the reason, and have no line.

    Raises
    ------
    ColumnError, OptionError, FrameError
        Where the schema shows that a role cannot be filled, or Altair is not installed.
    DataError
        For values that must not be swallowed, or more lines than one can read.

    Notes
    -----
    Scores of more rows than fit in memory are drawn from their counts: ``counts(...,
    thresholds=1001)``, then ``score="threshold", pos="pos", neg="neg"``. Sums of weights in ``pos``
    and ``neg``, and weighted curves, do not tell an interval. A curve thinned by ``keep=`` has the
    average precision of the steps that are left, marked with "≈".

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> chart = df.prc.plot("late", "score", points={"f_beta": 1})
    >>> type(chart).__name__, chart.usermeta["frame_prc"]["precision_error"]
    ('LayerChart', 0.0)
    """
    check_frame(frame)
    check_altair("plot")
    start = check_option("start", start, STARTS)
    drawn = drawing(
        ci, band, iso_f1, points, roc, threshold, facet, look(dark, title, width, height)
    )
    from frame_prc import _chart  # noqa: PLC0415 - Altair takes its time

    given = (truth, score, by, weight, pos_label, missing, pos, neg)
    return _chart.plot(_lines(frame, given, start), drawn)


@verb
def plot_summary(
    frame: AnyFrame,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    pos_label: object = None,
    missing: Missing = "raise",
    pos: IntoColumn | None = None,
    neg: IntoColumn | None = None,
    ci: float = 0.95,
    baseline: str | None = None,
    dark: bool = False,
    title: str | None = None,
    width: int | None = None,
) -> ChartType:
    """Draw the average precision of each segment as a dot with its interval, as an Altair chart.

    Of two models, or of several and a ``baseline``, the differences are beside it, with the
    intervals of :func:`compare`. Needs Altair: ``pip install altair``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item;
        or, without ``truth``, ``score``, ``pos`` and ``neg``, a curve as :func:`curve` returned it
        or as it was read back from a file: its keys are the columns before ``threshold``. A lazy
        frame is read here, once.
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
        ``"drop"``: a row that lacks the score of any model is left out for all of them, as
        :func:`compare` does it, and the chart says so. ``"unretrieved"``: rows without a score stay
        in the totals as never found, at no threshold; a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    ci
        The level of the intervals, which are those of independent rows; :func:`compare` and
        :func:`average_precision` take a ``cluster``.
    baseline
        The name of a model, to show the difference of each other one to it.
    dark
        Draw light dots on a dark ground.
    title
        What stands above the chart.
    width
        The width in pixels of the panel of average precisions.

    Returns
    -------
    altair.ConcatChart
        A row per segment, up to 200: its average precisions, the largest first, a tick at the
        average precision of a random ranking (with weights, at the prevalence), and its numbers of
        positives and of rows. The points of a curve frame count as ties, so a ``keep`` other than
        ``"all"`` moves its ticks towards the prevalence. Two models, or several with a
        ``baseline``, are sorted by difference, the first less the second, or each less the
        baseline; with counts or a curve frame the differences have no interval. Segments whose
        average precision is undefined come last, with the reason in place of the dot. It saves as
        that of :func:`plot` does.

    Raises
    ------
    ColumnError, OptionError, FrameError
        Where the schema shows that a role cannot be filled, or Altair is not installed.
    DataError
        For values that must not be swallowed, or more than 200 segments or 7 models.

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
    >>> chart = df.prc.plot_summary("late", "score", by="region")
    >>> type(chart).__name__
    'ConcatChart'
    """
    check_frame(frame)
    check_altair("plot_summary")
    level, looks = confidence(ci), look(dark, title, width, None)
    from frame_prc import _chart_summary  # noqa: PLC0415 - Altair takes its time

    given = (truth, score, by, weight, pos_label, missing, pos, neg)
    pairs = _pairs(given, level, baseline)
    lines = _lines(frame, given, "one", common_rows=True)
    return _chart_summary.plot_summary(lines, pairs, baseline, level, looks)


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

    return _frames.apply(frame, plan, asked.column_names(), frozenset(), _labels.COLUMNS)


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
        for recalls from ``f / (2 - f)``, where it is 1, to 1.

    Raises
    ------
    OptionError
        For an F1 score outside its range, or fewer than two points.

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
    scores, steps = f_scores_and_steps(f_scores, points)
    return _operating.iso_f1(scores, steps)


@verb
def write_ggplot(
    frame: AnyFrame,
    path: str | os.PathLike[str],
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
    keep: Keep = "corners",
    ci: float | None = None,
    title: str | None = None,
) -> tuple[Path, Path]:
    """Curves for R: a table that it reads without surprises, and a script that draws it.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item;
        or a curve, as :func:`curve` returned it or as read back from a file: then ``truth``,
        ``score``, ``pos`` and ``neg`` are left out, and its keys are the columns before
        ``threshold``. A lazy frame is read here, once.
    path
        Where the table goes; what lies there is replaced. ``.tsv`` or ``.csv`` is text, which R
        reads by itself; ``.parquet`` and ``.arrow`` or ``.feather`` need R's package arrow. The
        script goes beside it, with the suffix ``.R``.
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
    start
        The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``: precision 1,
        as scikit-learn and yardstick. ``"first"``: the precision of the first real point, as
        precrec, PRROC and Spark. ``None``: no such row.
    keep
        The points of each segment, as in :func:`curve`; the corners draw the same line as all.
    ci
        Add an interval with this probability of covering, for example ``0.95``: that of the average
        precision, as :func:`average_precision` has it, and at each threshold that of the precision,
        as :func:`curve` has it, which is drawn as a ribbon. Both are those of independent rows. Not
        with weights, nor for a curve.
    title
        The title of the picture.

    Returns
    -------
    tuple of Path
        The table and the script. Either both are written, or an error leaves both as they were.

    Raises
    ------
    ColumnError, OptionError, FrameError, FileError
        Before anything is read: a role that the schema cannot fill, an unknown suffix, a path that
        cannot be written, or a script of somebody else where this one would go.
    DataError
        For values that must not be swallowed.

    Notes
    -----
    The table is :func:`curve`, with the ``average_precision`` of its segment in every row, and with
    ``ci`` also ``ci_low, ci_high``. For a curve that was thinned before, which no longer tells, it
    is null. ``Rscript`` draws the table into a ``.png`` beside it: a panel per segment, a colour
    per ``model``.

    A null is ``NA`` (``<NA>`` in a column where ``NA`` is a text), infinity ``Inf``; texts are
    quoted, numbers have 17 digits, and a Float32 is written with the value it has as a double.
    Names become ASCII that R takes as it stands, and the script says which. Its ``restore`` makes
    factors of strings, categories, decimals, times, durations and integers beyond ``2**53``, with
    levels in the order of their dtype, and of Booleans, integers, floats, dates and datetimes what
    R has for them. Counts become doubles, exact up to ``2**53``. No string of R holds a NUL; U+2400
    stands in its place.

    Of 106,015 doubles, most of them random bit patterns, subnormals and quotients of counts, R
    4.2.2 on x86-64 read all from this text bit for bit, by ``read.table`` and by ``fread`` of
    data.table 1.14.8; from the shortest texts that stand for them it misread 6 and 3. By itself
    readr 2.1.4 misread 37 % of this text and 32 % of the shortest; as the script calls it, none.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table, script = df.prc.write_ggplot(f"{folder}/late.tsv", "late", "score")
    ...     print(table.name, script.name)
    late.tsv late.R
    """
    table = _ggplot.table_path(path)
    check_title(title)
    check_frame(frame)
    if _curve_frame.is_curve(truth, score, pos, neg):
        _curve_frame.check_unused(
            by=(by, None),
            weight=(weight, None),
            pos_label=(pos_label, None),
            ci=(ci, None),
            missing=(missing, "raise"),
            start=(start, "one"),
            keep=(keep, "corners"),
        )
        curve_frame = _curve_frame.read_curve(_frames.scan_all(frame))
        _ggplot.check_keys(curve_frame.keys)
        points, areas = curve_frame.points.lazy(), _areas_of_curve(curve_frame)
    else:
        asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
        check_option("start", start, STARTS)
        kept, level = points_to_keep(keep), None if ci is None else confidence(ci)
        extras = _curve.Extras(z=None if level is None else normal_quantile(level))
        interval = None if level is None else Interval(level)
        outputs = [*_curve.columns(extras, kept), *_tables.columns(missing, interval, bounds=False)]
        rows = _in_memory(frame, asked, outputs)
        points = _curve.curve(rows, start, kept, None, extras)
        areas = _tables.average_precision(rows, None, interval, bounds=False)
    drawn, known = pl.collect_all([points, areas])
    return _ggplot.write(drawn, known, table, title, ci)


def _areas_of_curve(curve_frame: _curve_frame.CurveFrame) -> pl.LazyFrame:
    """Return keys and average precision of a curve; null where it lacks points that count."""
    rows = _chart_rows.recounted(curve_frame)
    table = _tables.average_precision(rows, None, None, bounds=False)
    names = dict(zip(rows.columns.result_keys, curve_frame.keys, strict=True))
    area = pl.col(_areas.AVERAGE_PRECISION)
    known = pl.when(pl.lit(curve_frame.error is None)).then(area)
    return table.select(*(pl.col(key).alias(name) for key, name in names.items()), known)


@verb
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
        Column of sample weights from 1e-150 to 1e150; rows of weight 0 are left out.

    Returns
    -------
    Expr
        One Float64 named ``average_precision``, between 0 and 1. It is null where it is undefined:
        without positives, and also where a row has a missing truth or score, a truth other than 0
        and 1, or a weight that is not allowed, since an expression cannot raise an error per group.
        Nor does it know dtypes: a column of another one ends in an error of Polars.

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
    truth = _column("truth", truth)
    score = _per_row(_column("score", score), truth)
    undefined = ((truth != 0) & (truth != 1)).fill_null(value=True)
    undefined = undefined | score.is_null() | score.abs().cast(pl.Float64).is_nan()
    if weight is None:
        area = _areas.rank_expression(truth == 1, score)
    else:
        weight = _per_row(_column("weight", weight), truth).cast(pl.Float64)
        in_range = weight.is_between(SMALLEST_WEIGHT, LARGEST_WEIGHT)
        is_weight = ((weight == 0) | in_range).fill_null(value=False)
        undefined = (undefined & (weight != 0)) | ~is_weight
        area = _areas.weighted_expression(truth == 1, score, weight)
    return pl.when(~undefined.any()).then(area).alias(_areas.AVERAGE_PRECISION)


def _column(role: str, column: str | pl.Expr) -> pl.Expr:
    check_column(role, column)
    return named(column) if isinstance(column, str) else column


def _per_row(column: pl.Expr, truth: pl.Expr) -> pl.Expr:
    # A constant has one value for all rows; ranks need as many as there are rows.
    return pl.when(truth.is_null() | truth.is_not_null()).then(column)


def _run(
    frame: FrameT,
    request: Request,
    outputs: Collection[str],
    verb: Callable[[_rows.Rows], pl.LazyFrame],
) -> FrameT:
    def plan(lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
        return verb(_rows.read(lf, resolve(lf, request, outputs), in_memory=in_memory))

    made = [*outputs, *([MODEL] if request.several_models else [])]
    return _frames.apply(frame, plan, request.column_names(), request.amount_names(), made)


def _inside(engine: Engine, asked: Request, **refused: bool) -> Any:
    """Return the module that plans verbs inside an engine, for a request that can run there."""
    check_request(engine, asked, **refused)
    try:
        from frame_prc import _engine_plan  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        raise FrameError(
            f"{engine.kind} needs a package that is not installed: {error}",
            hint=install_hint(engine.extra),
        ) from error
    return _engine_plan


# --- charts --------------------------------------------------------------------------------------


def _lines(
    frame: AnyFrame, given: _Given, start: Start, *, common_rows: bool = False
) -> _chart_rows.Lines:
    """Return the lines that a chart of rows, of counts, or of a curve frame has."""
    truth, score, by, weight, pos_label, missing, pos, neg = given
    if _curve_frame.is_curve(truth, score, pos, neg):
        _curve_frame.check_unused(
            by=(by, None),
            weight=(weight, None),
            pos_label=(pos_label, None),
            missing=(missing, "raise"),
            start=(start, "one"),
        )
        return _chart_rows.lines_of_curve(_frames.scan_all(frame).collect())
    rows = _in_memory(frame, request(*given), _curve.COLUMNS, common_rows=common_rows)
    return _chart_rows.lines_of_rows(rows, start)


def _pairs(given: _Given, level: float, baseline: str | None) -> Comparison | None:
    """Return which models to compare on the same rows, where there are single rows of several."""
    truth, score, *_ = given
    if truth is None or score is None:
        return None
    asked = request(*given)
    pair = 2
    if baseline is None and len(asked.models) != pair:
        return None
    return comparison(asked, level, baseline, None, None)


def _in_memory(
    frame: AnyFrame, asked: Request, outputs: Collection[str], *, common_rows: bool = False
) -> _rows.Rows:
    """Return rows in memory, for what looks at them more than once: a lazy frame is read here.

    With ``common_rows``, ``missing="drop"`` drops the same rows for all models.
    """
    lf = _frames.scan(frame, asked.column_names(), asked.amount_names())
    columns = resolve(lf, asked, outputs)
    if common_rows and asked.missing == "drop":
        columns = with_common_rows(columns)
    if isinstance(frame, pl.LazyFrame):
        read, columns = collected(lf, columns)
        lf = read.lazy()
    return _rows.read(lf, columns, in_memory=True)
