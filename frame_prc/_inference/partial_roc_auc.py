"""The area under the ROC curve up to a false positive rate f, as a share of f.

It is shown on the scale on which a random order has .5 and a perfect one 1 (McClish 1989, doi
10.1177/0272989X8900900307): ``(1 + (area - f^2 / 2) / (f - f^2 / 2)) / 2``, as in scikit-learn.

Only the negatives that rank highest, f of them, have a part in it. The placement of a positive is
the share of these that rank below it. With q the recall at f, one more negative at recall y moves
the area by ``(min(y, q) - mean of it) / N``: among the highest it also moves another one out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._inference.dialect import OPENS, Dialect
from frame_prc._inference.roc_auc import RocAuc
from frame_prc._request.specs import PARTIAL_ROC_AUC


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

    def placed(self, points: Any, of: Dialect) -> Any:
        """Add the placements of positives and of negatives, of those in a tie their mean."""
        lib, f = of.lib, self.fpr
        gain, losses, tp, fp, positives, negatives = of.cols(
            "gain", "losses", "tp", "fp", "positives", "negatives"
        )
        lost, gained, before, after, found, inside, end = of.cols(
            "lost", "gained", "before", "after", "found", "inside", "end"
        )
        opens = lib.col(OPENS)
        shares = points.with_columns(
            lost=losses / negatives,
            gained=gain / positives,
            after=lib.when(opens).then(1.0).otherwise(fp / negatives),
            recall=lib.when(opens).then(1.0).otherwise(tp / positives),
        ).with_columns(before=after - lost, found=lib.col("recall") - gained)
        # Positives exactly at the end of the range: the influence is the mean of both sides.
        at_end = lib.when(before < f).then(1.0).when(before == f).then(0.5).otherwise(0.0)
        ranged = shares.with_columns(
            inside=lib.when(lost > 0).then(((f - before) / lost).clip(0.0, 1.0)).otherwise(at_end)
        ).with_columns(end=gained * inside)
        summed = of.with_sums(ranged, plain={"end": "end"})
        in_range = found + gained * inside / 2
        return summed.with_columns(
            missed=1 - inside + inside * (before + lib.min_horizontal(after, lib.lit(f))) / (2 * f),
            passed=inside * in_range + (1 - inside) * end,
            behind=inside * (1 - in_range) + (1 - inside) * (1 - end),
        ).with_columns(
            passed=(lib.col("passed") - (1 - f) * end) / f,
            behind=(lib.col("behind") - (1 - f) * (1 - end)) / f,
        )
