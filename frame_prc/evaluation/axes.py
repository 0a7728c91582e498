"""Pictures on axes of Matplotlib that a person has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from frame_prc._frames.border import FrameT
from frame_prc._request.options import calibration
from frame_prc._request.roles import check_option
from frame_prc.evaluation.base import OF_EVALUATION, OF_EVALUATION_OR_95, verb
from frame_prc.evaluation.pictures import PictureVerbs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from frame_prc._charts.on_axes import Drawn
    from frame_prc._charts.options import Sort


class AxesVerbs(PictureVerbs[FrameT]):
    """The verbs that draw, with those that draw on axes of Matplotlib."""

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
        source = self._chart_source(LEVEL if level is None else level)
        return draw_curves(source, ax, style, intervals=level is not None)

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
        >>> df = pl.DataFrame(
        ...     {
        ...         "region": ["north", "north", "north", "south", "south"],
        ...         "late": [True, False, True, False, True],
        ...         "score": [0.9, 0.8, 0.3, 0.6, 0.2],
        ...     }
        ... )
        >>> ax = Figure().subplots()
        >>> drawn = df.prc.summary_to_matplotlib("late", "score", by="region", ax=ax)
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['all rows', 'north', 'south']
        """
        from frame_prc._charts.on_axes import check_axes, draw_summary
        from frame_prc._charts.options import SORTS

        self._check_frame()
        style = check_axes("summary_to_matplotlib", ax, line)
        level, sort = self._level(ci), check_option("sort", sort, SORTS)
        source = self._chart_source(level, calibration(calibrate))
        return draw_summary(source, sort, ax, style)
