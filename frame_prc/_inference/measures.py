"""The measures by name."""

from __future__ import annotations

from frame_prc._inference.average_precision import AveragePrecision
from frame_prc._inference.measure import Measure
from frame_prc._inference.roc_auc import RocAuc
from frame_prc._request.specs import Measured


def measure_of(asked: Measured) -> Measure:
    """Return the measure that is asked for."""
    if asked.name == RocAuc.name:
        return RocAuc()
    return AveragePrecision(asked.calibration)
