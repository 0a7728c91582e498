"""The measures by name."""

from __future__ import annotations

from frame_prc._inference.at_threshold import AtThreshold
from frame_prc._inference.average_precision import AveragePrecision
from frame_prc._inference.measure import Measure, TiedMeasure
from frame_prc._inference.partial_roc_auc import PartialRocAuc
from frame_prc._inference.probabilities import LOSSES, BesideRate, MeanLoss
from frame_prc._inference.roc_auc import RocAuc
from frame_prc._request.specs import OF_CURVE, Measured


def measure_of(asked: Measured) -> Measure:
    """Return the measure that is asked for."""
    if asked.name in OF_CURVE:
        return AveragePrecision(asked.calibration)
    return tied_measure_of(asked)


def tied_measure_of(asked: Measured) -> TiedMeasure:
    """Return a measure that is none of the precision-recall curve."""
    if asked.name == RocAuc.name:
        return RocAuc()
    if asked.at is None:
        return (MeanLoss if asked.name in LOSSES else BesideRate)(of=asked.name)
    if asked.name == PartialRocAuc.name:
        return PartialRocAuc(fpr=asked.at.value)
    return AtThreshold(of=asked.name, at=asked.at)
