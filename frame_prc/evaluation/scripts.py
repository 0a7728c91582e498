"""A table and a script for R, of the curves and of what other verbs return."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._frames.border import FrameT, scan_all
from frame_prc._request.options import check_title, points_to_keep
from frame_prc._request.roles import check_option, refuse
from frame_prc._request.specs import STARTS, Interval, Keep, PictureForR, Start
from frame_prc._tables.areas import AveragePrecision
from frame_prc.evaluation.areas import AreaVerbs
from frame_prc.evaluation.base import OF_EVALUATION, verb
from frame_prc.evaluation.comparisons import ComparisonVerbs
from frame_prc.evaluation.curves import CurveVerbs
from frame_prc.evaluation.decisions import DecisionVerbs
from frame_prc.evaluation.pictures import PictureVerbs, in_order_of_models, with_models
from frame_prc.exceptions import shown

if TYPE_CHECKING:
    from frame_prc._curves.curve import CurveFrame

_LEVEL = 0.95


class ScriptVerbs(
    AreaVerbs[FrameT],
    CurveVerbs[FrameT],
    DecisionVerbs[FrameT],
    ComparisonVerbs[FrameT],
    PictureVerbs[FrameT],
):
    """The verb that writes for R, with those whose tables it writes."""

    @verb
    def write_ggplot(
        self,
        path: str | os.PathLike[str],
        *,
        kind: PictureForR = "curve",
        start: Start = "one",
        keep: Keep = "corners",
        ci: float | None = OF_EVALUATION,
        title: str | None = None,
    ) -> tuple[Path, Path]:
        """Write a table for R, and the ggplot2 script that draws it.

        Parameters
        ----------
        path
            Where to write the table; an existing file is replaced. ``.tsv`` and ``.csv`` are text,
            which R reads by itself; ``.parquet``, ``.arrow`` and ``.feather`` need R's package
            arrow. The script is written beside it, with the suffix ``.R``.
        kind
            The picture, and its table: ``"curve"``, ``"summary"`` (areas with intervals),
            ``"comparison"`` (of models; of one model, of segments), ``"reliability"``,
            ``"thresholds"`` or ``"scores"``.
        start
            The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``:
            precision 1, as in scikit-learn and yardstick. ``"first"``: the precision of the first
            real point, as in precrec, PRROC and Spark. ``None``: no such row.
        keep
            The points of each segment, as in :func:`curve`.
        ci
            Add intervals of this level for the average precision, and a ribbon, as in
            :func:`curve`. Not with weights, and not for a curve. Other kinds of pictures have
            intervals, where there are any, by default of 0.95.

        Returns
        -------
        tuple of Path
            The paths of the table and of the script. If an error is raised, existing files are
            unchanged.

        Raises
        ------
        ColumnError, OptionError, FrameError, FileError
            Before anything is read: for invalid parameters, for columns that do not exist or have
            the wrong dtype, for an unknown suffix, for a path that cannot be written, and if the
            script would replace one that this function did not write, or that was edited since.
        DataError
            If the data contain invalid values.

        Notes
        -----
        The points of curves have the ``average_precision`` of the segment in every row, and with
        ``ci`` also ``ci_low, ci_high``. The average precision is null for a curve that was thinned
        before, because the points left do not determine it. ``Rscript`` draws the table into a
        ``.png`` beside it, with a panel per segment and a colour per ``model``, in the order in
        which models are given.

        A null is ``NA`` (``<NA>`` in a column that holds the text ``NA``), and infinity is ``Inf``.
        Strings are quoted, numbers have 17 digits, and a Float32 is written with its value as a
        double. Column names become ASCII names that R accepts unchanged, and the script lists the
        changes. The function ``restore`` of the script turns strings, categories, decimals, times,
        durations and integers beyond ``2**53`` into factors, with levels in the order of their
        dtype, and Booleans, integers, floats, dates and datetimes into the matching types of R.
        Counts become doubles, exact up to ``2**53``. Strings in R cannot hold a NUL; U+2400 is
        written instead.

        We checked 106,015 doubles, most of them random bit patterns, subnormals and quotients of
        counts, with R 4.2.2 on x86-64. ``read.table``, and ``fread`` of data.table 1.14.8, read all
        of them bit for bit from this text; from the shortest text of each number they misread 6 and
        3. readr 2.1.4 misread 37 % of this text and 32 % of the shortest. So the script reads text,
        from which R makes the numbers.

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
        from frame_prc._ggplot.script import table_path, write

        table = table_path(path)
        check_title(title)
        self._check_frame()
        level = self._level_or_none(ci)
        if check_option("kind", kind, get_args(PictureForR)) == "curve":
            frame, keys, cluster = self._curve_for_r(start, keep, level)
        else:
            given = {
                f"start={shown(start)}": start != "one" or None,
                f"keep={shown(keep)}": keep != "corners" or None,
            }
            refuse(f"{{}} is given with kind={kind!r}", given, "kind='curve'")
            level = _LEVEL if level is None else level
            frame, keys, cluster = self._table_for_r(kind, level)
        return write(kind, frame, keys, table, title, level, cluster)

    def _curve_for_r(
        self, start: Start, keep: Keep, level: float | None
    ) -> tuple[pl.DataFrame, list[str], str | None]:
        """Return curves with their average precisions, their keys, and the name of clusters."""
        from frame_prc._curves.curve import check_unused, curve_keys, is_curve, read_curve
        from frame_prc._ggplot.script import check_keys, with_areas

        if is_curve(self.roles):
            check_unused(**self.roles, start=start, keep=keep, ci=level)
            curve = read_curve(scan_all(self._native), ascending=self.roles.get("ascending", False))
            check_keys(curve.keys)
            points, areas, cluster = curve.points.lazy(), _areas_of_curve(curve), None
        else:
            start, kept = check_option("start", start, STARTS), points_to_keep(keep)
            points, areas, cluster = self._tables_for_r(start, kept, level)
        drawn, known = pl.collect_all([points, areas])
        keys = curve_keys(drawn.schema)
        found = with_areas(drawn, known, keys)
        return found if is_curve(self.roles) else with_models(found, self._request), keys, cluster

    def _table_for_r(
        self, kind: PictureForR, level: float
    ) -> tuple[pl.DataFrame, list[str], str | None]:
        """Return the table of another verb, its keys, and the name of the clusters."""
        asked = self._request
        compared = self.compare_models if asked.several_models else self.compare_segments
        made: dict[PictureForR, tuple[Callable[[], Any], str]] = {
            "summary": (partial(self.average_precision, ci=level), "n"),
            "comparison": (partial(compared, ci=level), "difference"),
            "reliability": (partial(self.reliability, ci=level), "bin_low"),
            "scores": (self._score_bins, "bin_low"),
            "thresholds": (self.threshold_table, "threshold"),
        }
        table, first = made[kind]
        frame = in_order_of_models(scan_all(table()).collect(), asked)
        cluster = self._columns.cluster
        keys = [*takewhile(lambda name: name != first, frame.columns)]
        return frame, keys, None if cluster is None else cluster.name

    def _tables_for_r(
        self, start: Start, keep: Keep, level: float | None
    ) -> tuple[pl.LazyFrame, pl.LazyFrame, str | None]:
        """Return the curves of rows, their average precisions, and the name of their clusters."""
        from frame_prc._curves.curve import Curve, Extras

        curve = Curve(start, keep, extras=Extras(level=level))
        areas = AveragePrecision(interval=None if level is None else Interval(level))
        missing = self._request.missing
        rows = self._rows_in_memory([*curve.outputs, *areas.columns(missing)])
        cluster = rows.columns.cluster if level is not None else None
        return curve.finished(rows), areas.finished(rows), None if cluster is None else cluster.name


def _areas_of_curve(curve_frame: CurveFrame) -> pl.LazyFrame:
    """Return keys and average precision of a curve; null where it lacks points that count."""
    from frame_prc._charts.data import counts_of_curve

    rows = counts_of_curve(curve_frame)
    table = AveragePrecision().finished(rows)
    names = dict(zip(rows.columns.result_keys, curve_frame.keys, strict=True))
    area = pl.col(AVERAGE_PRECISION)
    known = pl.when(pl.lit(curve_frame.error is None)).then(area)
    return table.select(*(pl.col(key).alias(name) for key, name in names.items()), known)
