"""How well points meet the targets of operating points: expressions of Polars or of Narwhals.

``col`` is that of the library. Points have ``tp, fp, positives, negatives``, and ``opens``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_
from typing import Any, TypeAlias

from frame_prc._formulas import f_score, library, precision, recall
from frame_prc._request.specs import Target

Col: TypeAlias = Callable[[str], Any]

# Merits and precisions of sums of weights are compared to so many digits.
DIGITS = 12


def merit(target: Target, col: Col, slack: Any) -> Any:
    """Return how well a point meets a target; null if it does not."""
    tp, fp, positives, negatives = (col(n) for n in ("tp", "fp", "positives", "negatives"))
    if target.all_of:
        met = reduce(and_, (~merit(one, col, slack).is_null() for one in target.all_of))
        return library(tp).when(met).then(precision(tp, fp))
    real, fn, predicted = ~col("opens"), positives - tp, tp + fp
    value, lib = target.value, library(tp)
    at_least, at_most = value * (1 - slack), value * (1 + slack)
    # What a point must keep to, and by what those that do are compared.
    rules = {
        "recall": (real & (recall(tp, positives) >= at_least), precision(tp, fp)),
        "precision": (real & (precision(tp, fp) >= at_least), tp),
        "f_beta": (real & (positives > 0), f_score(tp, fp, fn, value)),
        "predicted_rate": (real & (at_most >= predicted / (positives + negatives)), predicted),
        "predicted_count": (real & (at_most >= predicted), predicted),
        "fpr": (real & (negatives > 0) & (at_most >= fp / negatives), tp),
        # To predict no row positive may cost the least: the start point is one of the choices.
        "cost": (lib.lit(value=True), -cost(target, col)),
    }
    meets, height = rules[target.criterion]
    return lib.when(meets).then(height)


def guaranteed_merit(target: Target, col: Col, bound: Any, slack: Any) -> Any:
    """Return how well a point meets a target that new rows meet too; null if it does not."""
    tp, fp, real = col("tp"), col("fp"), ~col("opens")
    at_least, at_most = bound * (1 - slack), bound * (1 + slack)
    rules = {
        "recall": (tp >= at_least, precision(tp, fp)),
        "precision": (at_most >= tp + fp, tp),
        "fpr": (at_most >= fp, tp),
    }
    meets, height = rules[target.criterion]
    return library(tp).when(real & meets).then(height)


def ranked_precision(col: Col) -> Any:
    """Return the precision by which equally good points are compared; the start point is last."""
    return (
        library(col("tp")).when(col("opens")).then(-1.0).otherwise(precision(col("tp"), col("fp")))
    )


def cost(target: Target, col: Col) -> Any:
    """Return what the errors of a point cost."""
    fp, fn = target.costs or (0.0, 0.0)
    return col("fp") * fp + (col("positives") - col("tp")) * fn


def rates(col: Col, beta: Any) -> dict[str, Any]:
    """Return the columns of an operating point that follow from its counts."""
    tp, fp, positives, negatives = (col(n) for n in ("tp", "fp", "positives", "negatives"))
    when, fn = library(tp).when, positives - tp
    return {
        "fn": fn,
        "tn": negatives - fp,
        "precision": when(tp + fp > 0).then(precision(tp, fp)),
        "recall": recall(tp, positives),
        "fpr": when(negatives > 0).then(fp / negatives),
        "f_score": when(positives > 0).then(f_score(tp, fp, fn, beta)),
        "predicted_rate": (tp + fp) / (positives + negatives),
        "predicted_count": tp + fp,
    }


def has_cost(targets: Sequence[Target]) -> bool:
    """Return whether a target is a cost: then results have the column ``expected_cost``."""
    return any(target.criterion == "cost" for target in targets)
