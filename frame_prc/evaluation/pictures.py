"""Pictures: charts, and a page to send."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from frame_prc._frames.border import FrameT, scan_all
from frame_prc._request import comparisons
from frame_prc._request.options import calibration, whole
from frame_prc._request.roles import Request, check_one_grouping, check_option
from frame_prc._request.specs import MODEL, Calibration, ChartX, Comparison
from frame_prc.evaluation.base import (
    OF_EVALUATION,
    OF_EVALUATION_OR_95,
    Evaluated,
    given_reference,
    verb,
)

if TYPE_CHECKING:
    from altair.typing import ChartType
    from matplotlib.axes import Axes

    from frame_prc._charts.data import Segments
    from frame_prc._charts.on_axes import Drawn
    from frame_prc._charts.options import Facet, Kind, OperatingPoints, Overlay, Sort
    from frame_prc._frames.border import AnyFrame
    from frame_prc._report.options import Section


_MOST_BINS = 400


class PictureVerbs(Evaluated[FrameT]):
    """The verbs that draw."""

    @verb
    def plot(
        self,
        *,
        x: ChartX = "recall",
        ci: float | None = OF_EVALUATION,
        band: bool = False,
        iso_f1: bool | Sequence[float] | None = None,
        points: OperatingPoints | None = None,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        roc: bool = False,
        facet: Facet = None,
        overlay: Overlay = "auto",
        y: float | Literal["auto"] = "auto",
        dark: bool = False,
        title: str | None = None,
        size: int | tuple[int, int] | None = None,
    ) -> ChartType:
        """Draw the precision-recall curve of each segment and model.

        Curves are steps whose area is the average precision. A dashed line marks the prevalence.
        The point nearest the mouse shows its threshold, precision, recall, ``tp`` and ``fp``. Needs
        Altair: ``pip install altair``.

        Parameters
        ----------
        x
            ``"recall"``: draw precision over recall. ``"threshold"``: precision, recall and F1 over
            the threshold, a panel for each segment and model, with the confusion counts at that of
            ``points``, or of the largest F1 (the median of several). In a saved page a slider moves
            it. Without ``roc``, ``band`` and ``facet``.
        ci
            Draw a ribbon around each curve: an interval of the precision at each threshold, as in
            :func:`curve`. It is also the level of the intervals of the average precision, 0.95 by
            default.
        band
            Draw the ribbon of :func:`band` instead, at the same level. It takes longer, and accepts
            weights.
        iso_f1
            Draw lines of equal F1: ``True`` for 0.2, 0.4, 0.6 and 0.8, ``False`` for none, or a
            list of up to 9. By default there are those in up to 6 panels.
        points
            Operating points to mark, up to 6, such as ``{"recall": 0.9}`` or ``{"f_beta": [1,
            2]}``, with a table of up to 60 points below the chart.
        calibrate
            Draw all at this prevalence, where the model is used, as in :func:`operating_points`, or
            at that of each segment in a frame. Counts beside a curve stay those of the rows.
        roc
            Draw the ROC curve of the same counts beside each panel.
        facet
            The keys that get a panel for each of their values: a name or a list of names. The
            others have colours, up to 21 in a panel. ``False`` puts all lines into one panel.
            ``None`` chooses: each segment has a panel, but up to 6 segments of a single model (3
            with ribbons) share one, and of two or more keys the last has colours if it has as few
            values.
        overlay
            A curve behind each panel: ``"pooled"``, that of all rows, or ``"mean"``, the mean of
            all segments at the same recall, both at the prevalence of the segment. ``None``: none.
            By default ``"pooled"`` where each panel has one line. It needs a panel per segment.
        y
            Where the axis of precision ends. ``"auto"``: at 1, or just above the largest precision
            beyond recall 0.05 if that is below 0.5.
        size
            The size of a panel in pixels: ``(width, height)``, or one number for a square. By
            default the chart is up to about 800 pixels wide.

        Returns
        -------
        altair.LayerChart, altair.ConcatChart or altair.VConcatChart
            ``chart.save("curves.html", inline=True)`` writes a page that works offline,
            ``curves.svg`` and ``curves.png`` pictures. A chart has up to 60 lines: of more segments
            the 20 lowest, the 20 highest and the 20 largest. If points were left out,
            ``chart.usermeta["frame_prc"]["precision_error"]`` says how far the steps are off at
            most; from 0.005 on, the text above the chart says so too. Segments whose average
            precision is undefined are listed with the reason, and have no line.

        Notes
        -----
        If the rows do not fit in memory, draw their counts: ``counts(..., thresholds=1001)``, then
        ``score="threshold", pos="pos", neg="neg"``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> chart = df.prc.plot("late", "score", points={"f_beta": 1})
        >>> type(chart).__name__, chart.usermeta["frame_prc"]["precision_error"]
        ('VConcatChart', 0.0)
        """
        from frame_prc._charts import options as of_charts

        self._check_frame()
        of_charts.check_altair("plot")
        level, used_at = self._level_or_none(ci), given_reference(calibrate)
        options = of_charts.ChartOptions(
            x=x,
            ci=level,
            band=band,
            iso_f1=of_charts.f_scores(iso_f1),
            targets=of_charts.marked(points),
            roc=roc,
            facet=of_charts.facet_keys(facet),
            overlay=overlay,
            y=of_charts.axis_end(y),
            look=of_charts.chart_look(dark, title, size),
        )
        options.check_over_thresholds()
        from frame_prc._charts import curves, saving, thresholds  # now that Altair is there

        kind = thresholds.ThresholdChart if options.x == "threshold" else curves.CurveChart
        segments = self._segments(options.level, used_at, deploys=used_at is not None)
        return saving.with_files(kind.of(segments, options).drawn())

    @verb
    def plot_summary(
        self,
        *,
        ci: float = OF_EVALUATION_OR_95,
        baseline: str | None = None,
        calibrate: float | Literal["highest", "pooled"] | None = "highest",
        sort: Sort = None,
        kind: Kind = "dots",
        dark: bool = False,
        title: str | None = None,
        width: int | None = None,
    ) -> ChartType:
        """Draw the average precision of each segment.

        Segments are rows with a dot per model; over dates or times, lines. For two models, or for
        several and a ``baseline``, a second panel shows the differences, with the intervals of
        :func:`compare_models`. Needs Altair: ``pip install altair``.

        Parameters
        ----------
        ci
            The level of the intervals. A dot is hollow if it has no interval, or is from so few
            rows that its interval may cover less.
        calibrate
            The prevalence at which segments are compared, as in :func:`summary`. ``None``: the
            plain average precision, which is higher where positives are more frequent.
        sort
            The order of the rows, from the top: ``"key"``, ``"value"`` or ``"difference"``, largest
            first. By default, dates or times in one key are drawn as lines; numbers, times and
            ordered categories (``Enum``) go by the key, others by difference if there is one, or by
            value. Segments with few positives then come last, below a line.
        kind
            ``"dots"``, or with two keys ``"heatmap"``: a cell per segment, and a panel per model.
        width
            The width in pixels of the panel of average precisions.

        Returns
        -------
        altair.ConcatChart
            One row per segment, up to 200, below one of all rows, with a tick at a random ranking
            and the numbers of positives and of rows. A difference is the second model minus the
            first, or each model minus the baseline; for counts, a curve frame or ``model`` it has
            no interval. Segments whose average precision is undefined have the reason instead of
            the dot. Save the chart as one of :func:`plot`.

            If one key has dates or datetimes, and ``sort`` is not given, time is the horizontal
            axis, with a line and a ribbon per model, and a panel for each value of the other keys,
            up to 24. A segment whose average precision is undefined leaves a gap, marked with a
            cross.

        Notes
        -----
        Windows that overlap share rows, so their average precisions go up and down together: to
        test a change, compare windows that do not overlap. ``examples/rolling_weeks.py`` also
        leaves out the first and the last windows, which are incomplete.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"region": [*"nnss"], "late": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
        >>> chart = df.prc.plot_summary("late", "score", by="region")
        >>> type(chart).__name__
        'ConcatChart'
        """
        from frame_prc._charts.options import KINDS, SORTS, chart_look, check_altair

        self._check_frame()
        check_altair("plot_summary")
        level, look = self._level(ci), chart_look(dark, title, width=width)
        sort, kind = check_option("sort", sort, SORTS), check_option("kind", kind, KINDS)
        from frame_prc._charts import saving, summary  # now that Altair is there

        pairs, reference = self._pairs(level, baseline, calibrate), calibration(calibrate)
        segments = self._segments(level, reference)
        return saving.with_files(summary.plot_summary(segments, pairs, baseline, sort, look, kind))

    @verb
    def plot_scores(
        self,
        *,
        bins: int = 50,
        dark: bool = False,
        title: str | None = None,
        size: int | tuple[int, int] | None = None,
    ) -> ChartType:
        """Draw how the scores of either class are spread.

        A panel for each segment and model has bars over the score: positives up, in the colour of
        the model, and negatives down in grey, each as shares of their class. Where they face each
        other no threshold parts them. Needs Altair: ``pip install altair``.

        Parameters
        ----------
        bins
            The number of bins, from 2 to 400, of one width for all finite scores.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A chart of up to 24 panels. Save it as one of :func:`plot`.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> chart = df.prc.plot_scores("late", "score", bins=7)
        >>> type(chart).__name__
        'LayerChart'
        """
        from frame_prc._charts.options import chart_look, check_altair

        self._check_frame()
        check_altair("plot_scores")
        look, table = chart_look(dark, title, size), self._score_bins(bins)
        from frame_prc._charts import results, saving  # now that Altair is there

        return saving.with_files(results.draw_result(table, look))

    def _score_bins(self, bins: int = 50) -> pl.DataFrame:
        """Return the share of each class in bins, of models in the order given."""
        from frame_prc._tables.curves import ScoreBins

        table = ScoreBins(whole("bins", bins, 2, _MOST_BINS))
        found = table.finished(self._rows_in_memory(table.outputs)).collect()
        return in_order_of_models(found, self._request)

    def _segments(
        self, level: float, reference: Calibration | None = None, *, deploys: bool = False
    ) -> Segments:
        """Return the segments of rows, of counts, or of a curve frame; intervals have a level."""
        from frame_prc._charts.data import segments_of_curve, segments_of_rows
        from frame_prc._curves.curve import CURVE, check_unused, is_curve

        if is_curve(self.roles):
            check_unused(**self.roles)
            points = scan_all(self._native).collect()
            ascending = self.roles.get("ascending", False)
            return segments_of_curve(points, level, reference, ascending=ascending, deploys=deploys)
        return segments_of_rows(self._rows_in_memory(CURVE), level, reference, deploys=deploys)

    def _pairs(self, level: float, baseline: str | None, calibrate: object) -> Comparison | None:
        """Return which models to compare, where there are single rows of several."""
        from frame_prc._curves.curve import is_curve

        if is_curve(self.roles):
            return None
        asked, pair = self._request, 2
        if "truth" not in asked.classes or asked.model is not None:
            return None
        if baseline is None and len(asked.models) != pair:
            return None
        return comparisons.models_compared(asked, level, baseline, calibrate=calibrate)

    @verb
    def report(
        self,
        path: str | os.PathLike[str],
        *,
        ci: float = OF_EVALUATION_OR_95,
        baseline: str | None = None,
        calibrate: float | Literal["highest", "pooled"] | None = None,
        sections: Section | Sequence[Section] | None = None,
        points: OperatingPoints | None = None,
        title: str | None = None,
        note: str | None = None,
        date: str | dt.date | None = None,
        accent: str | None = None,
    ) -> list[Path]:
        """Write one HTML page to send, and its numbers as JSON.

        The page needs no network. Its first screen answers four questions, each with a sentence and
        a picture: how good, which model, which segment, which threshold. Of ``by`` with a time and
        other keys it answers for these. Below are the curves, the scorecard, and the alerts,
        precision and recall at each threshold.

        Parameters
        ----------
        path
            Where to write; existing files are replaced. ``"report.html"`` also writes its numbers,
            ``report.json``; ``"report.json"`` is the numbers alone.
        ci
            The level of the intervals. Tests are at the level ``1 - ci``.
        calibrate
            The prevalence at which segments are compared, as in :func:`summary`.
        sections
            What stands below the answers: ``"curves"``, ``"segments"`` and ``"thresholds"`` by
            default; also ``"roc"``, ``"scores"``, ``"reliability"`` and ``"time"``: the area of
            each week, say, with the limits of :func:`monitor`. One key is then a time, or a number
            or an ``Enum`` if none is; segments of other keys are taken together. The first half of
            the values, at most 24, are the reference. It needs NumPy.
        points
            The target of the threshold that is shown first, such as ``{"recall": 0.9}``: one of
            those of :func:`operating_points`. By default ``{"f_beta": 1}``.
        title
            The title of the page.
        note
            A text below the title.
        date
            A date, or a text, to print beside the facts. By default there is none, so that the same
            rows make the same bytes.
        accent
            A colour for lines and controls, such as ``"#0072b2"``.

        Returns
        -------
        list of Path
            The files that were written: the page and its numbers, or the numbers alone. If an error
            is raised, existing files are unchanged.

        Raises
        ------
        ColumnError, OptionError, FrameError, FileError
            Before anything is read: for invalid parameters, for columns that do not exist or have
            the wrong dtype, for an unknown suffix, for a path that cannot be written, if the
            numbers would replace a file that this function did not write, and if Altair, Jinja2 or
            vl-convert is not installed.
        DataError
            If the data contain invalid values, or there are more than 7 models.

        Notes
        -----
        The numbers are those of :func:`summary` with ``overall=True``, of :func:`compare_models`
        and :func:`compare_segments`, both adjusted by Holm's method, of segments within each model,
        of :func:`heterogeneity` and :func:`curve`, and of :func:`operating_points` at about 200
        thresholds; segments have their ``calibrated_average_precision`` compared. Up to 200
        segments have curves; of more, the 20 worst, the 20 best and the 20 largest. Without single
        rows of models side by side nothing is tested.
        ``frame_prc/_report/report.schema.json`` describes the JSON.

        Examples
        --------
        >>> import tempfile
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page, numbers = df.prc.report(f"{folder}/late.html", "late", "score")
        ...     print(page.name, numbers.name)
        late.html late.json
        """
        from frame_prc._report.evaluation import evaluate
        from frame_prc._report.options import Options, date_text, sections_of, target_of
        from frame_prc._report.write import report_paths, write

        paths = report_paths(path)
        options = Options(
            level=self._level(ci),
            calibrate="highest" if calibrate is None else calibrate,
            baseline=baseline,
            sections=sections_of(sections),
            target=target_of(points),
            title=title,
            note=note,
            date=date_text(date),
            accent=accent,
        )
        asked = self._request
        if baseline is not None and asked.model is None:
            comparisons.models_to_compare(asked, baseline)
        check_one_grouping(asked)
        # Its tables name the model, even if there is one.
        outputs = [MODEL, *options.scorecard.outputs]
        counted = self if self._engine is None else self._of_counts(self._engine)
        rows = counted._rows_in_memory(outputs)  # noqa: SLF001 - of its own class
        write(evaluate(rows, asked, options), paths)
        return paths

    @verb
    def to_matplotlib(
        self, *, ax: Axes | None = None, ci: float | None = OF_EVALUATION, **line: Any
    ) -> Drawn:
        """Draw the curve of each segment and model on your Matplotlib axes.

        Lines, colours and names are those of :func:`plot`: steps whose area is the average
        precision, which the legend tells. A dashed line marks the prevalence, of each segment if
        they differ. Needs Matplotlib: ``pip install matplotlib``.

        Parameters
        ----------
        ax
            The axes; by default the current ones, ``matplotlib.pyplot.gca()``.
        ci
            Show the interval of each average precision, at this level.
        line
            Properties of the lines, such as ``linewidth=1``, as ``ax.plot`` takes them.

        Returns
        -------
        Drawn
            ``axes``, and ``lines``, a ``Line2D`` per segment and model, up to 21. From recall 0.004
            on, a line has the points of ``curve(keep="corners")``. Below, where precision is that
            of a handful of rows, it is level. The line of a segment whose average precision is
            undefined has no points, and that of one with few positives is faint. Settings of your
            own, such as ``ax.set_title``, come after it. A legend of more than six entries is
            beside the axes: ``plt.subplots(layout="constrained")`` makes room for it, as a figure
            with the current axes alone does by itself.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> from matplotlib.figure import Figure
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> drawn = df.prc.to_matplotlib("late", "score", ax=Figure().subplots(), linewidth=1)
        >>> [line.get_label() for line in drawn.lines]
        ['AP 0.833']
        """
        from frame_prc._charts.on_axes import check_axes, draw_curves
        from frame_prc._charts.options import LEVEL

        self._check_frame()
        style = check_axes("to_matplotlib", ax, line)
        level = self._level_or_none(ci)
        segments = self._segments(LEVEL if level is None else level)
        return draw_curves(segments, ax, style, intervals=level is not None)

    @verb
    def summary_to_matplotlib(
        self,
        *,
        ax: Axes | None = None,
        ci: float = OF_EVALUATION_OR_95,
        calibrate: float | Literal["highest", "pooled"] | None = "highest",
        sort: Sort = None,
        **line: Any,
    ) -> Drawn:
        """Draw the average precision of each segment on your Matplotlib axes.

        Dots, intervals and the order of the rows are those of :func:`plot_summary`, below a row for
        all rows of the data. Ticks mark the average precision of a random ranking. Needs
        Matplotlib: ``pip install matplotlib``.

        Parameters
        ----------
        ax
            The axes; by default the current ones, ``matplotlib.pyplot.gca()``.
        ci
            The level of the intervals. A dot is hollow if it has no interval, or is from so few
            rows that its interval may cover less.
        calibrate
            The prevalence at which segments are compared, as in :func:`summary`. ``None``: the
            plain average precision, which is higher where positives are more frequent.
        sort
            The order of the rows, from the top, as in :func:`plot_summary`; dates are rows too.
        line
            Properties of the dots, such as ``markersize=4``, as ``ax.plot`` takes them.

        Returns
        -------
        Drawn
            ``axes``, and ``lines``, a ``Line2D`` of dots per model. There are up to 200 segments.
            A legend of models is beside the axes, as a long one of :func:`to_matplotlib`.
            Those whose average precision is undefined have the reason instead of the dot. Without
            the names of the models, as in a curve frame of several, there is no row for all rows.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> from matplotlib.figure import Figure
        >>> df = pl.DataFrame({"region": [*"nnss"], "late": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
        >>> ax = Figure().subplots()
        >>> drawn = df.prc.summary_to_matplotlib("late", "score", by="region", ax=ax)
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['all rows', 'n', 's']
        """
        from frame_prc._charts.on_axes import check_axes, draw_summary
        from frame_prc._charts.options import SORTS

        self._check_frame()
        style = check_axes("summary_to_matplotlib", ax, line)
        level, sort = self._level(ci), check_option("sort", sort, SORTS)
        segments = self._segments(level, calibration(calibrate))
        return draw_summary(segments, sort, ax, style)


def with_models(table: pl.DataFrame, asked: Request) -> pl.DataFrame:
    """Return a table with the models as a category in the order given, where that is known."""
    models = [name for name in asked.models if name is not None]
    if MODEL not in table.columns or asked.model is not None or not models:
        return table
    return table.with_columns(pl.col(MODEL).cast(pl.Enum(models)))


def in_order_of_models(table: pl.DataFrame, asked: Request) -> pl.DataFrame:
    """Return a table sorted by its models, in the order given."""
    found = with_models(table, asked)
    return found.sort(MODEL, maintain_order=True) if MODEL in found.columns else found
