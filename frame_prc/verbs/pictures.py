"""Pictures: the curves, and the average precision of each segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from frame_prc._charts.data import ChartSource, source_of_curve, source_of_rows
from frame_prc._charts.options import (
    Facet,
    OperatingPoints,
    chart_look,
    chart_options,
    check_altair,
)
from frame_prc._curves import curve as _curve
from frame_prc._curves import curve_frame as _curve_frame
from frame_prc._frames.border import check_frame, scan_all
from frame_prc._request.options import (
    comparison,
    confidence,
)
from frame_prc._request.parameters import verb
from frame_prc._request.roles import check_option, request
from frame_prc._request.specs import (
    STARTS,
    Comparison,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
    Start,
)
from frame_prc.verbs.run import rows_in_memory

if TYPE_CHECKING:
    from typing import TypeAlias

    from altair.typing import ChartType

    from frame_prc._frames.border import AnyFrame

    # What a verb is given beside its frame, in the order of :func:`request`.
    _Given: TypeAlias = tuple[
        IntoColumn | None, IntoScores | None, IntoKeys | None, IntoColumn | None, object, Missing,
        IntoColumn | None, IntoColumn | None,
    ]  # fmt: skip


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
    look = chart_look(dark, title, width, height)
    options = chart_options(ci, band, iso_f1, points, roc, threshold, facet, look)
    from frame_prc._charts import curves  # noqa: PLC0415 - Altair takes its time

    given = (truth, score, by, weight, pos_label, missing, pos, neg)
    return curves.plot(_chart_source(frame, given, start), options)


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
    level, look = confidence(ci), chart_look(dark, title, width, None)
    from frame_prc._charts import summary  # noqa: PLC0415 - Altair takes its time

    given = (truth, score, by, weight, pos_label, missing, pos, neg)
    pairs = _pairs(given, level, baseline)
    source = _chart_source(frame, given, "one", common_rows=True)
    return summary.plot_summary(source, pairs, baseline, level, look)


def _chart_source(
    frame: AnyFrame, given: _Given, start: Start, *, common_rows: bool = False
) -> ChartSource:
    """Return the segments of rows, of counts, or of a curve frame."""
    truth, score, by, weight, pos_label, missing, pos, neg = given
    if _curve_frame.is_curve(truth, score, pos, neg):
        _curve_frame.check_unused(
            by=(by, None),
            weight=(weight, None),
            pos_label=(pos_label, None),
            missing=(missing, "raise"),
            start=(start, "one"),
        )
        return source_of_curve(scan_all(frame).collect())
    rows = rows_in_memory(frame, request(*given), _curve.COLUMNS, common_rows=common_rows)
    return source_of_rows(rows, start)


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
