"""The area under the ROC curve up to a false positive rate f, as a share of f.

It is shown on the scale on which a random order has .5 and a perfect one 1 (McClish 1989, doi
10.1177/0272989X8900900307): ``(1 + (area - f^2 / 2) / (f - f^2 / 2)) / 2``, as in scikit-learn.

Only the negatives that rank highest, f of them, have a part in it. The placement of a positive is
the share of these that rank below it. With q the recall at f, one more negative at recall y moves
the area by ``(min(y, q) - mean of it) / N``: among the highest it also moves another one out.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_prc._inference.measure import NEGATIVES, OPENS, POSITIVES
from frame_prc._inference.roc_auc import RocAuc
from frame_prc._request.specs import PARTIAL_ROC_AUC

_BEFORE, _INSIDE, _END = pl.col("before"), pl.col("inside"), pl.col("end")
_FOUND, _GAINED = pl.col("found"), pl.col("gain") / POSITIVES


@dataclass(frozen=True)
class PartialRocAuc(RocAuc):
    """The area under the ROC curve up to a false positive rate."""

    fpr: float = 0.1
    name = PARTIAL_ROC_AUC

    @property
    def lowest(self) -> float:
        """The value without any area."""
        return (1 - self.fpr) / (2 - self.fpr)

    @property
    def share_of_negatives(self) -> float:
        """The highest negatives, which have a part in it."""
        return self.fpr

    @property
    def chance(self) -> pl.Expr:
        """The share of a random order."""
        return pl.lit(self.fpr / 2)

    def placed(self, ties: pl.LazyFrame) -> pl.LazyFrame:
        """Add the placements of positives and of negatives, of those in a tie their mean."""
        f, lost = self.fpr, pl.col("losses") / NEGATIVES
        after = pl.when(OPENS).then(1.0).otherwise(pl.col("fp") / NEGATIVES)
        recall = pl.when(OPENS).then(1.0).otherwise(pl.col("tp") / POSITIVES)
        # Positives exactly at the end of the range: the influence is the mean of both sides.
        at_end = ((f - _BEFORE).sign() + 1) / 2
        ranged = (
            ties.with_columns(before=after - lost, found=recall - _GAINED, after=after)
            .with_columns(
                inside=pl.when(lost > 0).then(((f - _BEFORE) / lost).clip(0, 1)).otherwise(at_end)
            )
            .with_columns(end=(_GAINED * _INSIDE).sum().over("segment"))
        )
        in_range = _FOUND + _GAINED * _INSIDE / 2
        passed = _INSIDE * in_range + (1 - _INSIDE) * _END
        behind = _INSIDE * (1 - in_range) + (1 - _INSIDE) * (1 - _END)
        return ranged.with_columns(
            missed=1 - _INSIDE + _INSIDE * (_BEFORE + pl.min_horizontal("after", f)) / (2 * f),
            passed=(passed - (1 - f) * _END) / f,
            behind=(behind - (1 - f) * (1 - _END)) / f,
        )
