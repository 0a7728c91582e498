"""Calibration inside an engine: scaled false positives, at a given prevalence or that of all rows.

See :mod:`frame_prc._curves.calibration`.
"""

from __future__ import annotations

import narwhals as nw

from frame_prc._curves.calibration import REFERENCE
from frame_prc._engines.operations import Frame
from frame_prc._engines.rows import Counted
from frame_prc._formulas import odds_ratio
from frame_prc._request.specs import Calibration


def calibrated(sums: Frame, counted: Counted, calibration: Calibration) -> Frame:
    """Return running sums with scaled false positives.

    Added are ``scale``, what a negative counts as, and the reference prevalence with the odds of a
    negative there.
    """
    referred = _referred(sums, counted, calibration)
    both = (nw.col("positives") > 0) & (nw.col("negatives") > 0)
    odds = odds_ratio(nw.col("positives"), nw.col("negatives"), nw.col("reference_odds"))
    scaled = [name for name in ("fp", "fp_a") if name in sums.columns]
    return referred.with_columns(scale=nw.when(both).then(odds)).with_columns(
        nw.col(*scaled) * nw.col("scale")
    )


def reference_sums(calibration: Calibration | None) -> dict[str, nw.Expr]:
    """Return the aggregate that keeps the reference prevalence of a segment, if there is one."""
    return {} if calibration is None else {REFERENCE: nw.col(REFERENCE).max()}


def with_reference(table: Frame, calibration: Calibration | None) -> Frame:
    """Add the given prevalence, which is known without rows too."""
    if calibration is None or calibration.prevalence is None:
        return table
    return table.with_columns(nw.lit(calibration.prevalence).alias(REFERENCE))


def _referred(sums: Frame, counted: Counted, calibration: Calibration) -> Frame:
    if calibration.odds is not None:
        return sums.with_columns(
            nw.lit(calibration.odds).alias("reference_odds"),
            nw.lit(calibration.prevalence).alias(REFERENCE),
        )
    positives, negatives = nw.col("model_positives"), nw.col("model_negatives")
    return _with_model_totals(sums, counted).with_columns(
        nw.when(positives > 0).then(negatives / positives).alias("reference_odds"),
        nw.when(positives + negatives > 0)
        .then(positives / (positives + negatives))
        .alias(REFERENCE),
    )


def _with_model_totals(sums: Frame, counted: Counted) -> Frame:
    """Add the numbers of positives and negatives among all rows of a model.

    They are joined, as a window over all rows of a model would be one task on Spark.
    """
    totals = {"model_positives": nw.col("pos").sum(), "model_negatives": nw.col("neg").sum()}
    typed = nw.col(*totals).cast(counted.amount)
    if not counted.columns.several_models:
        whole = counted.frame.select(**totals).with_columns(typed)
        return sums.join(whole, how="cross")
    model = counted.keys[0]
    models = counted.frame.group_by(model).agg(**totals).with_columns(typed)
    return left_join(sums, models, model)


def left_join(frame: Frame, others: Frame, key: str) -> Frame:
    """Join rows by a key that may be null, which SQL takes for different from another null."""
    is_null = nw.col(key).is_null()
    known = others.filter(~is_null)
    unknown = others.filter(is_null).drop(key)
    added = unknown.columns
    of_null = unknown.rename({name: f"{name}_of_null" for name in added})
    joined = frame.join(known, on=key, how="left").join(_one_row(of_null), how="cross")
    return joined.with_columns(
        nw.when(is_null).then(nw.col(f"{name}_of_null")).otherwise(nw.col(name)).alias(name)
        for name in added
    ).drop([f"{name}_of_null" for name in added])


def _one_row(frame: Frame) -> Frame:
    """Return the only row of a frame, or nulls if it has none."""
    return frame.select(nw.all().max())
