"""Decisions: the thresholds at which a curve is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from frame_prc._engines.engine import HELD_BY_COLUMN, OF_DEPLOYED
from frame_prc._frames.border import FrameT
from frame_prc._request.options import check_deployed
from frame_prc._request.points import cuts_ties, guaranteed, target_interval, targets, with_joint
from frame_prc._request.specs import Criterion, IntoColumn, Top
from frame_prc._rows.rules import SUMS
from frame_prc.evaluation.base import (
    OF_EVALUATION,
    Evaluated,
    given_reference,
    given_steps,
    given_thresholds,
    verb,
)
from frame_prc.exceptions import OptionError

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


# Shares of the rows that are predicted positive.
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


class DecisionVerbs(Evaluated[FrameT]):
    """The verbs that choose thresholds, or hold them."""

    @verb
    def operating_points(
        self,
        *,
        recall: float | Sequence[float] | None = None,
        precision: float | Sequence[float] | None = None,
        threshold: float | Sequence[float] | IntoColumn | AnyFrame | None = None,
        f_beta: float | Sequence[float] | None = None,
        predicted_rate: float | Sequence[float] | None = None,
        predicted_count: float | Top | Sequence[float | Top] | None = None,
        fpr: float | Sequence[float] | None = None,
        cost: tuple[float, float] | Sequence[tuple[float, float]] | None = None,
        joint: bool = False,
        guarantee: float | None = None,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        ci: float | None = OF_EVALUATION,
        details: bool = False,
    ) -> FrameT:
        """Best threshold of each segment for a target, or given ones.

        Give any number of targets, each as a number or a list. Of equally good points, the most
        precise is taken, then that of highest recall, then of highest threshold.

        Parameters
        ----------
        recall
            The most precise point with at least this recall, above 0 and up to 1.
        precision
            The point of highest recall with at least this precision, above 0 and up to 1.
        threshold
            The point at this threshold: a number or a list for all segments; a column or an
            expression that is constant within each; or a frame of keys and thresholds, such as what
            this verb returned for other rows.
        f_beta
            The point of the highest F score, with recall weighing this many times precision.
        predicted_rate
            The point with the largest share of rows predicted positive that is at most this one.
        predicted_count
            The same for a number of rows, or a sum of weights. Rows of equal score are retrieved
            together, or none of them. ``Top(100, ties="expected")`` retrieves as many as fit, at
            random.
        fpr
            The point of highest recall with at most this false positive rate, from 0 to 1.
        cost
            The point of least cost, for ``(cost of a false positive, cost of a false negative)``,
            or a list of such pairs. The threshold is ``inf`` if no alert at all costs the least.
        joint
            Add a first row for the most precise point that meets all targets at once: two or more
            of ``recall``, ``precision``, ``fpr``, ``predicted_rate`` and ``predicted_count``.
        guarantee
            Choose thresholds that meet the target on new rows too, with at least this probability,
            such as ``0.95``: for ``recall``, ``precision`` and ``fpr``. Of too few rows, the row
            holds nulls: ``n_needed`` is how many positives (``recall``), negatives (``fpr``) or
            rows predicted positive (``precision``) can be enough. Needs NumPy.
        calibrate
            The prevalence where they are used, as in :func:`average_precision`, or a frame of keys
            and ``prevalence``: precision, F scores, costs and budgets are those of rows there.
        ci
            Add intervals of this level for the precision and the recall of new rows at each
            threshold. At a ``threshold=`` they are those of the measures in :func:`summary`. A
            threshold chosen on these rows does better on them than on new ones: its intervals are
            exact (Clopper & Pearson 1934), and the lower limits allow for the loss, by a bootstrap,
            which needs NumPy. Not with sums of weights in ``pos`` and ``neg``.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``target, threshold, precision, recall, predicted_count, status``, with
            ``cost`` also ``expected_cost``, null for other targets. With ``ci``, ``precision_low,
            precision_high`` take the place of ``predicted_count``; with ``guarantee`` and no ``ci``
            there is ``n_needed``. With ``details`` also ``criterion, target_value, tp, fp, fn, tn,
            fpr, f_score, predicted_rate``, with ``guarantee`` ``n_counted, n_needed``, with
            ``calibrate`` ``reference_prevalence``, with ``ci`` ``recall_low, recall_high``; with
            ``ascending=True`` always ``ascending``. Sorted by the keys, then in the order of the
            parameters above.

            ``status`` is ``"not_met"`` where no point meets a target (then nulls), ``"missed"`` if
            one of other rows misses it here, ``"no_guarantee"``, ``"no_threshold"`` for a segment
            given none, ``"few_rows"`` below 20 rows, or as in :func:`average_precision`.

        Notes
        -----
        Hold what is chosen to other rows: ``chosen = train.prc.operating_points(..., recall=0.8)``,
        then ``test.prc.operating_points(..., threshold=chosen)``, or ``at=chosen`` of other verbs.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> df.prc.operating_points("late", "score", recall=0.8, f_beta=1)
        shape: (2, 6)
        ┌────────────┬───────────┬───────────┬────────┬─────────────────┬────────┐
        │ target     ┆ threshold ┆ precision ┆ recall ┆ predicted_count ┆ status │
        │ ---        ┆ ---       ┆ ---       ┆ ---    ┆ ---             ┆ ---    │
        │ str        ┆ f64       ┆ f64       ┆ f64    ┆ i64             ┆ str    │
        ╞════════════╪═══════════╪═══════════╪════════╪═════════════════╪════════╡
        │ recall=0.8 ┆ 0.4       ┆ 0.666667  ┆ 1.0    ┆ 3               ┆ ok     │
        │ f_beta=1   ┆ 0.4       ┆ 0.666667  ┆ 1.0    ┆ 3               ┆ ok     │
        └────────────┴───────────┴───────────┴────────┴─────────────────┴────────┘
        """
        from frame_prc._tables.operating_points import OperatingPoints

        numbers, column, given = given_thresholds(threshold)
        asked: dict[Criterion, object] = {
            "recall": recall,
            "precision": precision,
            "threshold": numbers,
            "f_beta": f_beta,
            "predicted_rate": predicted_rate,
            "predicted_count": predicted_count,
            "fpr": fpr,
            "cost": cost,
        }
        held_too = given is not None
        wanted = with_joint(targets(asked, others=held_too), joint, others=held_too)
        wanted = guaranteed(wanted, guarantee, others=held_too)
        at_random, reference = cuts_ties(wanted), given_reference(calibrate)
        if at_random and reference is not None:
            raise OptionError("ties='expected' is given with calibrate=", "one of them")
        interval = target_interval(self._level_or_none(ci, has_interval=not at_random), wanted)
        if interval is not None or guarantee is not None:
            check_deployed(self._request, reference, "ci=" if guarantee is None else "guarantee=")
        table = OperatingPoints(
            wanted, given, interval, ascending=self._request.ascending, calibration=reference
        )
        if engine := self._engine:
            roles = self._request
            refused = {HELD_BY_COLUMN: column is not None, "ties='expected'": at_random}
            of_rows = interval is not None or guarantee is not None
            refused[OF_DEPLOYED] = reference is not None and of_rows
            of_counts = {
                "guarantee": guarantee is not None,
                "calibrate": reference is not None,
                "threshold= as a frame": given is not None and column is None,
                "ci": interval is not None and interval.resampling is not None,
            }
            # Counts tell of no cluster, of no single weight, and of no row that is dropped.
            whole = roles.missing != "drop" and {*roles.classes} <= {"truth", *SUMS}
            if roles.cluster is None and whole and any(of_counts.values()):
                self._plans(engine, refused)
                return self._table_of_counts(table, engine, details=details)
            clustered = interval is not None and roles.cluster is not None
            refused |= of_counts | {"ci": of_counts["ci"] or clustered}
            return self._inside(engine, table, refused, details=details)
        held = replace(self._request, threshold=column)
        return self._table(table, None if column is None else held, details=details)

    @verb
    def threshold_table(
        self,
        *,
        thresholds: float | Sequence[float] | AnyFrame | None = None,
        cost: tuple[float, float] | None = None,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        details: bool = False,
    ) -> FrameT:
        """Thresholds by steps, with the alerts, hits and false alarms of each.

        The table from which a threshold is chosen together. For a single target see
        :func:`operating_points`, which also has intervals and a guarantee.

        Parameters
        ----------
        thresholds
            One or more thresholds for all segments, or a frame, as of :func:`operating_points`. By
            default those at which 0.1, 0.2, 0.5, 1, 2, 5, 10, 20 and 50 % of the rows are predicted
            positive, or as many as fit without cutting a tie, and with ``cost`` the cheapest, last.
        cost
            The ``(cost of a false positive, cost of a false negative)``, for ``expected_cost``.
        calibrate
            The prevalence where the threshold will be used, as in :func:`operating_points`. All
            counts are then those of 1,000 rows there, as the alerts are.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``threshold, alerts_per_1000, precision, recall, tp, fp, status``, with
            ``cost`` ``expected_cost`` in place of ``tp`` and ``fp``, and with ``missing="drop"``
            ``n_dropped``. With ``details`` also ``predicted_count, fn, tn, fpr, f1, net_benefit``
            (null but for thresholds between 0 and 1), with ``calibrate`` ``reference_prevalence``.
            ``status`` is ``"not_met"`` for a share that not even the first rows fit into (its row
            holds nulls), or as in :func:`operating_points`. Sorted by the keys, then by the steps.

        Notes
        -----
        Precision and recall are those of these rows. At a threshold that is chosen from the table
        new rows have less: hold it to other rows, by ``operating_points(threshold=..., ci=0.95)``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> df.prc.threshold_table("late", "score", thresholds=[0.3, 0.8])
        shape: (2, 7)
        ┌───────────┬─────────────────┬───────────┬────────┬─────┬─────┬────────┐
        │ threshold ┆ alerts_per_1000 ┆ precision ┆ recall ┆ tp  ┆ fp  ┆ status │
        │ ---       ┆ ---             ┆ ---       ┆ ---    ┆ --- ┆ --- ┆ ---    │
        │ f64       ┆ f64             ┆ f64       ┆ f64    ┆ i64 ┆ i64 ┆ str    │
        ╞═══════════╪═════════════════╪═══════════╪════════╪═════╪═════╪════════╡
        │ 0.3       ┆ 750.0           ┆ 0.666667  ┆ 1.0    ┆ 2   ┆ 1   ┆ ok     │
        │ 0.8       ┆ 250.0           ┆ 1.0       ┆ 0.5    ┆ 1   ┆ 0   ┆ ok     │
        └───────────┴─────────────────┴───────────┴────────┴─────┴─────┴────────┘
        """
        from frame_prc._tables.operating_points import ThresholdTable

        costs = None if cost is None else targets({"cost": cost})[0].costs
        asked: dict[Criterion, object] = {"predicted_rate": _STEPS}
        asked |= {} if cost is None else {"cost": cost}
        given = None
        if thresholds is not None:
            numbers, given = given_steps(thresholds)
            asked = {"threshold": numbers}
        table = ThresholdTable(
            targets(asked, others=given is not None),
            given,
            ascending=self._request.ascending,
            calibration=given_reference(calibrate),
            costs=costs,
        )
        return self._table(table, details=details)
