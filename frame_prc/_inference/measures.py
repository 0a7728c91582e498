"""The measures by name."""

from __future__ import annotations

from frame_prc._inference.at_threshold import AtThreshold
from frame_prc._inference.average_precision import AveragePrecision
from frame_prc._inference.measure import Measure
from frame_prc._inference.probabilities import MeanLoss
from frame_prc._inference.roc_auc import RocAuc
from frame_prc._request.specs import OF_PROBABILITIES, Measured


def measure_of(asked: Measured) -> Measure:
    """Return the measure that is asked for."""
    if asked.name == RocAuc.name:
        return RocAuc()
    if asked.name in OF_PROBABILITIES:
        return MeanLoss(of=asked.name)
    if asked.threshold is not None:
        return AtThreshold(of=asked.name, threshold=asked.threshold)
    return AveragePrecision(asked.calibration)
