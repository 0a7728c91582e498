"""Few labels: measures from some of them and a judge's label of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from frame_prc._frames.border import FrameT
from frame_prc._request.comparisons import check_rows
from frame_prc._request.points import models_measured
from frame_prc._request.roles import check_column
from frame_prc._request.specs import Interval, IntoColumn, MeasureName
from frame_prc.evaluation.base import OF_EVALUATION_OR_95, Evaluated, verb
from frame_prc.evaluation.given import given_at
from frame_prc.exceptions import OptionError, said_as

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


class LabelVerbs(Evaluated[FrameT]):
    """The verbs for rows of which few have a label."""

    @verb
    def prediction_powered(
        self,
        *,
        proxy: IntoColumn,
        ci: float = OF_EVALUATION_OR_95,
        measure: MeasureName = "average_precision",
        at: Mapping[str, float] | AnyFrame | None = None,
        details: bool = False,
    ) -> FrameT:
        """Measure from few labels, narrowed by a judge's label of all rows.

        ``truth`` is null in the rows that have no label. A judge, such as a language model or last
        year's rule, has labelled all rows in ``proxy``. The measure stays that of the labels,
        however wrong the judge is; where it is often right, and most rows have no label, the
        interval is narrower.

        Parameters
        ----------
        proxy
            Column of the judge's labels, in the values of ``truth``, of rows with and without one.
        ci
            The level of the intervals.
        measure
            ``"average_precision"``, or another one of :func:`compare_models`, but for the
            calibrated area.
        at
            Where such a measure is taken, as in :func:`compare_models`.
        details
            Add the columns that are named so below.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n, n_pos`` of the labelled rows, the measure under its name, ``ci_low,
            ci_high``, ``effective_labels``, how many labels would tell as much without the judge,
            and ``status``, as in :func:`average_precision`. With ``details`` also ``n_unlabelled``,
            ``proxy_weight``, the part that the judge has, from 0 to 1, and ``std_error``.

        Notes
        -----
        The labelled rows must be drawn at random from all. The measure is ``h + λ (u - p)``: by the
        labels, and by the judge in the rows without and with one (Angelopoulos, Duchi & Zrnic
        2023). ``cluster`` takes clusters as the independent units, those too that have rows of both
        kinds.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(5000)}).with_columns(
        ...     late=pl.col("row") * 7 % 11 < 3, score=pl.col("row") * 7919 % 601
        ... )
        >>> judge = pl.col("late") & (pl.col("row") % 9 > 0)  # misses one of nine
        >>> df = df.with_columns(pl.col("score") + 300 * pl.col("late"), judge=judge)
        >>> few = df.with_columns(late=pl.when(pl.col("row") < 250).then("late"))
        >>> few.prc.prediction_powered("late", "score", proxy="judge")
        shape: (1, 7)
        ┌─────┬───────┬───────────────────┬──────────┬──────────┬──────────────────┬────────┐
        │ n   ┆ n_pos ┆ average_precision ┆ ci_low   ┆ ci_high  ┆ effective_labels ┆ status │
        │ --- ┆ ---   ┆ ---               ┆ ---      ┆ ---      ┆ ---              ┆ ---    │
        │ i64 ┆ i64   ┆ f64               ┆ f64      ┆ f64      ┆ f64              ┆ str    │
        ╞═════╪═══════╪═══════════════════╪══════════╪══════════╪══════════════════╪════════╡
        │ 250 ┆ 68    ┆ 0.786852          ┆ 0.714039 ┆ 0.844283 ┆ 393.163563       ┆ ok     │
        └─────┴───────┴───────────────────┴──────────┴──────────┴──────────────────┴────────┘
        """
        from frame_prc._tables.labels import PredictionPowered

        self._check_frame(takes_counts=False)
        asked, level = self._request, self._level(ci)
        check_rows(asked)
        check_column("truth", self.roles["truth"])
        check_column("proxy", proxy)
        self._check()
        found = models_measured(asked, measure, None, given_at(at))
        if found.at is not None and found.at.criterion == "predicted_count":
            raise OptionError(
                "at={'predicted_count': ...} is given, and the rows with and without a label are "
                "of different numbers",
                "at={'predicted_rate': 0.1}, their share",
            )
        truth = self.roles["truth"]
        is_labelled = (pl.col(truth) if isinstance(truth, str) else truth).is_not_null()
        with_label, without = ((*self.conditions, one) for one in (is_labelled, ~is_labelled))
        of_judge = {**self.roles, "truth": proxy}
        labelled: LabelVerbs[FrameT] = self._changed(conditions=with_label)
        with said_as("truth=", "proxy="):
            judged: LabelVerbs[FrameT] = self._changed(conditions=with_label, roles=of_judge)
            others: LabelVerbs[FrameT] = self._changed(conditions=without, roles=of_judge)
        table = PredictionPowered(found, Interval(level), judged._rows(), others._rows())
        name = proxy if isinstance(proxy, str) else proxy.meta.output_name()
        column, computed = f"= column {name!r}", f"=pl.col({name!r})"
        with (
            said_as(f"truth{column}", f"proxy{column}"),
            said_as(f"truth{computed}", f"proxy{computed}"),
        ):
            return labelled._table(table, details=details)
