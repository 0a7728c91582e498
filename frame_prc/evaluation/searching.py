"""What nobody asked for: segments that differ, and weeks in which something changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_prc._frames.border import FrameT, is_frame, scan_all
from frame_prc._request import comparisons
from frame_prc._request.hints import check_numpy
from frame_prc._request.options import key_name, whole
from frame_prc._request.points import measured
from frame_prc._request.roles import check_one_grouping, check_option
from frame_prc._request.specs import PERMUTED, IntoKeys, MeasureName, OverLooks
from frame_prc.evaluation.base import OF_EVALUATION_OR_95, Evaluated, given_at, verb
from frame_prc.exceptions import OptionError, said_as, type_name

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


def read_state(state: Any) -> pl.DataFrame:
    """Return what an earlier call returned."""
    if not is_frame(state):
        raise OptionError(
            f"state= is of type {type_name(state)}",
            "a frame: what monitor() returned before, with details=True",
            "read a file first: state=pl.read_parquet('state.parquet')",
            shell_hint=None,
        )
    return scan_all(state).collect()


class SearchVerbs(Evaluated[FrameT]):
    """The verbs that look for what is different."""

    @verb
    def find_segments(
        self,
        *,
        columns: IntoKeys | None = None,
        depth: int = 2,
        quantiles: int = 4,
        min_positives: int = 20,
        ci: float = OF_EVALUATION_OR_95,
        measure: MeasureName = "calibrated_average_precision",
        details: bool = False,
    ) -> FrameT:
        """Segments that nobody named: where the model is worse, or better.

        Looks at each value of each column and at each pair of values, compares it with the others
        of the same columns, and returns the few that differ by more than the largest difference
        that chance shows among so many. 10,000 segments of a million rows take about two seconds.

        Parameters
        ----------
        columns
            The columns to look at; by default those in ``by``. A number or a time with more than 10
            different values is cut at its ``quantiles``, rounded to three digits. Of text with many
            values, the 100 with most positives are looked at. Name what is known when the score is
            used: with a column that tells the outcome, it finds that.
        depth
            1 for single values, 2 for pairs too, such as one airline on Mondays.
        quantiles
            Into how many parts a number is cut, from 2 to 20.
        min_positives
            How many positives, and how many negatives, a segment needs, and the others. Segments of
            fewer than 20 are looked at, but not named: their status is not ``"ok"``. Those with too
            few negatives for ``measure`` to be judged are not looked at, where sizes tell.
        ci
            Where no segment differs, the probability of finding none. It is also the level at which
            all intervals hold at once. From 0.5 to 0.99.
        measure
            The average precision at the prevalence of all rows; or ``"average_precision"``,
            ``"roc_auc"``.

        Returns
        -------
        Same kind as ``frame``
            A row for each find, up to 20 and maybe none, the clearest first: ``segment``, ``n_pos``
            (of another ``measure`` its name), ``value, difference, ci_low, ci_high, p_adjusted,
            status``, with ``details`` also ``measure, n, n_pos, others, reference_prevalence,
            n_looked_at``. The difference is from the others; interval and p-value are for the
            search as a whole, and ``status`` is ``"ok"``: what cannot be judged is not named. A
            find is beside those above it: what overlaps with one of them, and differs for no other
            reason, is left out; ``rest of stage=3`` are the rows of ``stage=3`` outside of them. If
            none is found, the log ``frame_prc`` warns how many were looked at, and which differs
            most; it also warns how many have too few negatives for ``measure``.

        Notes
        -----
        P-values are beside the largest difference that 999 draws from the overlap of the segments
        show (Westfall & Young 1993). What
        was found was chosen for being far from the others, so look at it on other rows.
        ``examples/guide/statistics.md`` has simulated error rates.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(3000)}).with_columns(
        ...     site=pl.col("row") * 31 % 7,
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     noise=pl.col("row") * 7919 % 601,
        ... )
        >>> blind = pl.when(pl.col("site") == 3).then(0).otherwise(300)
        >>> df = df.with_columns(score=pl.col("noise") + blind * pl.col("late"))
        >>> df.prc.find_segments("late", "score", columns="site")
        shape: (1, 8)
        ┌─────────┬───────┬──────────┬────────────┬───────────┬──────────┬────────────┬────────┐
        │ segment ┆ n_pos ┆ value    ┆ difference ┆ ci_low    ┆ ci_high  ┆ p_adjusted ┆ status │
        │ ---     ┆ ---   ┆ ---      ┆ ---        ┆ ---       ┆ ---      ┆ ---        ┆ ---    │
        │ str     ┆ i64   ┆ f64      ┆ f64        ┆ f64       ┆ f64      ┆ f64        ┆ str    │
        ╞═════════╪═══════╪══════════╪════════════╪═══════════╪══════════╪════════════╪════════╡
        │ site=3  ┆ 156   ┆ 0.371758 ┆ -0.462881  ┆ -0.531307 ┆ -0.39233 ┆ 0.001      ┆ ok     │
        └─────────┴───────┴──────────┴────────────┴───────────┴──────────┴────────────┴────────┘
        """
        from frame_prc._tables.search import Finds

        self._check_frame(takes_counts=False)
        ev, said = self, "by="
        if columns is not None:
            ev, said = replace(self, roles={**self.roles, "by": columns}), "columns="
        with said_as("by=", said):
            asked, level = ev._request, self._level(ci)  # noqa: SLF001 - of its own class
            comparisons.check_rows(asked)
            if asked.model is not None or len(asked.models) > 1:
                raise OptionError(
                    "several models are given, and segments of one are looked for",
                    "one model",
                    "call it for each: the rows of one score, or those of one value of model=",
                )
            check_one_grouping(asked)
            comparisons.check_searched(asked, level)
            check_numpy("find_segments()")
            check_option("depth", depth, (1, 2))
            cut = whole("quantiles", quantiles, 2, 20)
            fewest = whole("min_positives", min_positives, 1)
            found = measured(asked, check_option("measure", measure, PERMUTED), None)
            table = Finds(found, level, depth, cut, fewest)
            return ev._table(table, details=details)  # noqa: SLF001 - of its own class

    @verb
    def monitor(
        self,
        *,
        over: str,
        plan: tuple[int, int],
        ci: float = OF_EVALUATION_OR_95,
        measure: MeasureName = "average_precision",
        calibrate: float | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
        window: int = 1,
        adjust: OverLooks | None = None,
        state: AnyFrame | None = None,
        details: bool = False,
    ) -> FrameT:
        """Weeks in order against a reference, with one error for all looks.

        All looks at all segments share one error. Each compares the last week, and the mean of the
        last 2, 4, 8 ..., with the first weeks.

        Parameters
        ----------
        over
            The key in ``by`` whose values are the periods, in their order; text must be in the
            order of its numbers. The other keys, and the models, are watched side by side.
        plan
            How many periods are the reference, and how many are looked at, such as ``(12, 52)``.
            The first tell how much weeks differ when nothing is wrong: take 8 or more; with 24, or
            with several segments, a drop is found in a third of the time.
        ci
            Where nothing changes, the probability that no look at any segment gives an alarm.
        measure
            As in :func:`compare_models`; ``"calibrated_average_precision"`` does not fall with the
            share of positives. For ``"mean_score"`` and ``"calibration_gap"`` both directions give
            an alarm, for others what is worse.
        calibrate
            A number, the prevalence for ``measure="calibrated_average_precision"``.
        window
            Evaluate so many periods together: of days, ``window=7`` looks at the last week, every
            day, alone, and the reference is those of its windows that do not overlap, two at least.
        adjust
            ``"lond"``: let the expected share of false alarms be about ``1 - ci``, where many
            segments may change (Javanmard & Montanari 2015), each look at one period alone.
        state
            What this verb returned before, with ``details=True``. Its periods are not computed
            again, and need not be among the rows; with ``window``, the last ones before the new
            ones must be, one fewer than it has. Only later periods of each segment are looked at.
            A segment that is new adds an error of its own: that of all over their number.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n_pos`` (of another ``measure`` its name), ``value, reference, limit,
            conclusion, since, status``, with ``missing="drop"`` also ``n_dropped``, and with
            ``details`` ``measure, n, n_pos, n_periods, z, delay, n_effective, dispersion`` and
            ``logit, variance, degrees, bound, error, plan``. The reference is the weighted mean of
            the first periods. What is compared is values less their bias, with which reference and
            limit are shown. An alarm may be of the mean of the last 2, 4, 8 ... periods. After
            ``delay`` looks half of all drops by 0.05 are found. The conclusion is ``"reference",
            "quiet", "alarm"``, ``"undecided"`` of a period that could hardly be an alarm by itself
            (``"few_positives"``: take longer ones, or a ``window``) or is left out
            (``"few_negatives"``), and null where the ``status`` says why: ``"no_period"`` of rows
            without one, ``"no_reference"`` if fewer than two of the first periods have a value, or
            none a standard error, ``"plan_ended"`` after the last look. Sorted by the keys.

        Notes
        -----
        Clusters are to be within periods, and these to vary normally: of quiet series with a few
        far worse weeks, three in ten have an alarm (``examples/guide/statistics.md``).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(4000)}).with_columns(
        ...     week=pl.col("row") // 400,
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     noise=pl.col("row") * 7919 % 601,
        ... )
        >>> helps = pl.when(pl.col("week") < 8).then(300).otherwise(0)
        >>> score = pl.col("noise") + helps * pl.col("late")
        >>> df.prc.monitor("late", score, by="week", over="week", plan=(4, 12)).tail(4)
        shape: (4, 8)
        ┌──────┬───────┬──────────┬───────────┬──────────┬────────────┬───────┬────────┐
        │ week ┆ n_pos ┆ value    ┆ reference ┆ limit    ┆ conclusion ┆ since ┆ status │
        │ ---  ┆ ---   ┆ ---      ┆ ---       ┆ ---      ┆ ---        ┆ ---   ┆ ---    │
        │ i64  ┆ i64   ┆ f64      ┆ f64       ┆ f64      ┆ str        ┆ i64   ┆ str    │
        ╞══════╪═══════╪══════════╪═══════════╪══════════╪════════════╪═══════╪════════╡
        │ 6    ┆ 146   ┆ 0.836212 ┆ 0.836489  ┆ 0.73778  ┆ quiet      ┆ null  ┆ ok     │
        │ 7    ┆ 145   ┆ 0.826174 ┆ 0.836489  ┆ 0.735751 ┆ quiet      ┆ null  ┆ ok     │
        │ 8    ┆ 146   ┆ 0.385554 ┆ 0.836489  ┆ 0.750389 ┆ alarm      ┆ 8     ┆ ok     │
        │ 9    ┆ 145   ┆ 0.362192 ┆ 0.836489  ┆ 0.75216  ┆ alarm      ┆ 8     ┆ ok     │
        └──────┴───────┴──────────┴───────────┴──────────┴────────────┴───────┴────────┘
        """
        from frame_prc._tables.watched import Watched

        self._check_frame()
        asked, level = self._request, self._level(ci)
        check_one_grouping(asked)
        check_numpy("monitor()")
        first, looks, key = *comparisons.plan_of(plan), key_name(over)
        lond = check_option("adjust", adjust, (None, "lond")) == "lond"
        found = comparisons.held_measure(
            measured(asked, measure, calibrate, given_at(at)),
            calibrate,
            lambda: self._share_of_first(key, first),
        )
        earlier = None if state is None else read_state(state)
        size = comparisons.window_of(window, first)
        table = Watched(found, key, first, looks, 1 - level, size, lond, details, earlier)
        return self._table(table, details=details)

    def _share_of_first(self, key: str, first: int) -> float | None:
        rows = self._rows()
        if not rows.in_memory or key not in rows.columns.result_keys:
            return None
        period = pl.col(rows.keys[rows.columns.result_keys.index(key)])
        amounts = rows.amounts(rows.is_positive(), squares=False)
        used = rows.used().filter(period.rank("dense") <= first)
        pos, neg = used.select(**amounts).sum().collect().row(0)
        return float(pos / (pos + neg)) if pos else None
