"""Measures of probabilities and at a threshold: their truth for normal scores, and their intervals.

Scores become probabilities by Bayes' rule, so they are calibrated. The threshold is where negatives
of a given share score higher.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.area_coverage import LEVEL, Scenario

import frame_prc

OF_ROWS = ("mean_score", "calibration_gap", "brier", "log_loss")
BESIDE_RATE = ("observed_expected", "brier_skill")
AT = (
    "precision", "recall", "fpr", "f1", "accuracy", "balanced_accuracy", "mcc", "net_benefit",
    "precision_lift",
)  # fmt: skip


@dataclass(frozen=True)
class Probabilities:
    """Probabilities of a scenario, and a threshold that a share of the negatives reaches.

    It is given, or chosen in each draw by the recall, or that share, that it has in all.
    """

    scenario: Scenario
    fpr: float
    chosen_by: Literal["recall", "fpr", "threshold"] = "threshold"

    @property
    def _log_odds(self) -> float:
        return float(np.log(self.scenario.prevalence / (1 - self.scenario.prevalence)))

    @property
    def threshold(self) -> float:
        d, x = self.scenario.separation, norm.isf(self.fpr)
        return float(1 / (1 + np.exp(-(d * x - d * d / 2 + self._log_odds))))

    @property
    def at(self) -> dict[str, float]:
        """Where measures are taken."""
        found = {"threshold": self.threshold, "recall": self.truth("recall"), "fpr": self.fpr}
        return {self.chosen_by: found[self.chosen_by]}

    def probability(self, name: str) -> pl.Expr:
        d = self.scenario.separation
        return 1 / (1 + (-(d * pl.col(name) - d * d / 2 + self._log_odds)).exp())

    def truth(self, name: str) -> float:
        """The measure in the distribution."""
        return self._at_threshold(name) if name in AT else self._of_rows(name)

    def _of_rows(self, name: str) -> float:
        d, prevalence = self.scenario.separation, self.scenario.prevalence
        if name == "observed_expected":
            return prevalence / self._of_rows("mean_score")
        if name == "brier_skill":
            return 1 - self._of_rows("brier") / (prevalence * (1 - prevalence))
        x = np.linspace(-9, 15, 200_001)
        p = 1 / (1 + np.exp(-(d * x - d * d / 2 + self._log_odds)))
        with np.errstate(divide="ignore"):
            costs = {
                "mean_score": (p, p),
                "calibration_gap": (p - 1, p),
                "brier": ((1 - p) ** 2, p**2),
                "log_loss": (-np.log(p), -np.log1p(-p)),
            }
        of_positive, of_negative = costs[name]
        parts = prevalence * norm.pdf(x - d) * of_positive, (1 - prevalence) * norm.pdf(x)
        both = np.nan_to_num(parts[0], posinf=0) + np.nan_to_num(parts[1] * of_negative, posinf=0)
        return float(np.sum(both) * (x[1] - x[0]))

    def _at_threshold(self, name: str) -> float:
        prevalence, t = self.scenario.prevalence, self.threshold
        recall = norm.sf(norm.isf(self.fpr) - self.scenario.separation)
        tp, fp = prevalence * recall, (1 - prevalence) * self.fpr
        fn, tn = prevalence - tp, 1 - prevalence - fp
        margins = prevalence * (1 - prevalence) * (tp + fp) * (fn + tn)
        return {
            "precision": tp / (tp + fp),
            "recall": recall,
            "fpr": self.fpr,
            "f1": 2 * tp / (2 * tp + fp + fn),
            "accuracy": tp + tn,
            "balanced_accuracy": (recall + 1 - self.fpr) / 2,
            "mcc": (tp * tn - fp * fn) / np.sqrt(margins),
            "net_benefit": tp - fp * t / (1 - t),
            "precision_lift": tp / (tp + fp) / prevalence,
        }[name]

    def intervals(self, name: str) -> pl.DataFrame:
        """Return the intervals of a measure in all draws that have it."""
        s, held = self.scenario, self.at if name in AT else None
        asked = {"by": "draw", "ci": LEVEL, "measures": name, "at": held, **s.options}
        found = pl.concat(
            frame_prc.summary(rows, "truth", self.probability("score_0"), **asked)
            for rows in s.frames(1)
        )
        own = [pl.col(f"{name}_{end}").alias(f"ci_{end}") for end in ("low", "high")]
        return found.filter(pl.col(name).is_not_null()).with_columns(own)

    def equal_models(self, name: str) -> pl.DataFrame:
        """Return the comparisons of two models that are equally good."""
        held = self.at if name in AT else None
        asked = {"by": "draw", "ci": LEVEL, "measure": name, "at": held, **self.scenario.options}
        scores = {model: self.probability(f"score_{place}") for place, model in enumerate("ab")}
        return pl.concat(
            frame_prc.compare_models(rows, "truth", scores, **asked)
            for rows in self.scenario.frames(2)
        )

    def ratio_of_groups(self, shift: float) -> tuple[pl.DataFrame, float]:
        """Return the false positive rate of half the rows over that of the others, and its truth.

        Their scores are higher by ``shift``.
        """
        asked = {"by": ["draw", "group"], "against": {"group": False}, "scale": "ratio"}
        asked |= {"measure": "fpr", "at": {"threshold": self.threshold}, **self.scenario.options}
        found = pl.concat(
            frame_prc.compare_segments(
                rows.with_columns(group=pl.col("cluster") % 2 == 0).with_columns(
                    pl.col("score_0") + shift * pl.col("group").cast(pl.Float64)
                ),
                "truth",
                self.probability("score_0"),
                **asked,
            )
            for rows in self.scenario.frames(1)
        )
        return found.filter("group"), float(norm.sf(norm.isf(self.fpr) - shift) / self.fpr)
