"""Tables: the scorecard of each segment, and the comparison of models or segments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from frame_prc._frames.border import FrameT, check_frame
from frame_prc._request.options import (
    comparison,
    confidence,
)
from frame_prc._request.parameters import verb
from frame_prc._request.roles import check_option, request
from frame_prc._request.specs import (
    Adjust,
    Against,
    Interval,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
)
from frame_prc._tables.compare import Differences
from frame_prc._tables.summary import Summary
from frame_prc.verbs.run import run

if TYPE_CHECKING:
    pass


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
    asked = request(
        truth, score, by=by, weight=weight, pos_label=pos_label, missing=missing, cluster=cluster
    )
    compared = comparison(asked, ci, baseline, against, adjust)
    asked = replace(asked, side_by_side=compared.against is None)
    return run(frame, asked, Differences(compared))


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
    return run(frame, asked, Summary(interval, overall))
