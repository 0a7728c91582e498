"""Curves: every point, points that meet a target, bands, and lines to draw behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import polars as pl

from frame_prc._curves.curve import Curve, Extras
from frame_prc._curves.operating_points import OperatingPoints, iso_lines
from frame_prc._engines.engine import engine_of
from frame_prc._formulas import normal_quantile
from frame_prc._frames.border import FrameT, check_frame
from frame_prc._inference.bootstrap import Band
from frame_prc._request.options import (
    Numbers,
    bins_of,
    confidence,
    f_scores_and_steps,
    points_to_keep,
    prevalence,
    recall_list,
    resampling,
    targets,
)
from frame_prc._request.packages import check_numpy
from frame_prc._request.parameters import verb
from frame_prc._request.roles import check_option, request
from frame_prc._request.specs import (
    STARTS,
    Criterion,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Keep,
    Missing,
    Start,
)
from frame_prc.verbs.run import engine_verbs, run

if TYPE_CHECKING:
    pass


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
    extras = Extras(envelope, gain, prevalence(calibrate), z)
    bins = bins_of(thresholds)
    asked = request(
        truth, score, by=by, weight=weight, pos_label=pos_label, missing=missing, pos=pos, neg=neg
    )
    if engine := engine_of(frame):
        thinned = isinstance(kept, int)
        refused = {"gain": gain, "calibrate": calibrate is not None, "ci": ci is not None}
        verbs = engine_verbs(engine, asked, **refused, keep=thinned)
        points = verbs.curve(engine, frame, asked, start, keep, bins, envelope=envelope)
        return cast("FrameT", points)
    return run(frame, asked, Curve(start, kept, bins, extras))


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
    wanted = OperatingPoints(targets(asked))
    roles = request(
        truth, score, by=by, weight=weight, pos_label=pos_label, missing=missing, pos=pos, neg=neg
    )
    return run(frame, roles, wanted)


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
    grid, level = recall_list(recalls), confidence(ci)
    drawn = resampling(replicates, seed, stratified, cluster)
    check_numpy()
    asked = request(
        truth,
        score,
        by=by,
        weight=weight,
        pos_label=pos_label,
        missing=missing,
        pos=pos,
        neg=neg,
        cluster=cluster,
    )
    return run(frame, asked, Band(grid, level, drawn))


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
    return iso_lines(scores, steps)
