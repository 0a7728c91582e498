"""Small examples that others have published: their scores and truths, under the source's name."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def _frame(scores: Sequence[float], truth: Sequence[int]) -> pl.DataFrame:
    return pl.DataFrame({"truth": truth, "score": scores}, schema_overrides={"score": pl.Float64})


# The ten detections by which the voc_ap function of Detectron is often explained.
DETECTRON = _frame(
    [0.65, 0.1, 0.15, 0.43, 0.97, 0.24, 0.82, 0.7, 0.32, 0.84], [0, 0, 1, 0, 1, 1, 0, 1, 1, 1]
)

# The twenty images, with ids 1 to 20, by which the average precision of PASCAL VOC is often
# explained. Three pairs share a score: 1 and 18, 8 and 11, 7 and 15.
PASCAL_VOC = pl.concat(
    [
        _frame(
            [0.23, 0.76, 0.01, 0.91, 0.13, 0.45, 0.12, 0.03, 0.38, 0.11],
            [0, 1, 0, 1, 0, 0, 1, 0, 1, 0],
        ),
        _frame(
            [0.03, 0.09, 0.65, 0.07, 0.12, 0.24, 0.10, 0.23, 0.46, 0.08],
            [0, 0, 0, 0, 0, 1, 0, 0, 0, 1],
        ),
    ]
)
# The explanations rank ties one by one, in the order of the ids.
PASCAL_VOC_UNTIED = PASCAL_VOC.with_columns(
    pl.when(pl.int_range(1, pl.len() + 1).is_in([1, 7, 8]))
    .then(pl.col("score") + 1e-9)
    .otherwise("score")
    .alias("score")
)

# scikit-learn, documentation of precision_recall_curve and average_precision_score.
SKLEARN_DOCS = _frame([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
# scikit-learn, sklearn/metrics/tests/test_ranking.py.
SKLEARN_FOUR = _frame([1, 2, 3, 4], [1, 0, 0, 1])
SKLEARN_PERFECT = _frame([0, 1], [0, 1])
SKLEARN_INVERTED = _frame([1, 0], [0, 1])
SKLEARN_TIED = _frame([1, 1], [1, 0])
SKLEARN_ALL_POSITIVE = _frame([0.25, 0.75], [1, 1])
SKLEARN_CONSTANT = _frame([0.5] * 8, [1, 0, 0, 0] * 2)
SKLEARN_TIES = _frame([0.8, 0.8, 0.8, 0.2, 0.2], [0, 0, 1, 1, 0])

# yardstick, tests of pr_curve and of average_precision.
YARDSTICK = _frame([0.9, 0.4, 0.35, 0.7], [1, 1, 0, 1])
YARDSTICK_TIES = _frame([0.9, 0.9, 0.8, 0.4, 0.3], [1, 0, 0, 1, 1])

# prcbench (Saito and Rehmsmeier 2017), its test sets C1 to C4.
PRCBENCH = {
    "C1": _frame([3, 2, 2, 1], [1, 0, 1, 0]),
    "C2": _frame([3, 3, 2, 1], [1, 0, 0, 1]),
    "C3": _frame([4, 3, 2, 1], [0, 0, 1, 1]),
    "C4": _frame([8, 7, 6, 5, 4, 3, 1, 1], [1, 1, 1, 0, 0, 0, 1, 0]),
}

# Spark MLlib, BinaryClassificationMetricsSuite.
SPARK = _frame([0.1, 0.1, 0.4, 0.6, 0.6, 0.6, 0.8], [0, 1, 0, 0, 1, 1, 1])

# ClickHouse, documentation and tests of arrayAUCPR.
CLICKHOUSE_TIED_PAIR = _frame([0.1, 0.4, 0.4, 0.35, 0.8], [0, 0, 1, 1, 1])
CLICKHOUSE_FOUR = _frame([0.1, 0.35, 0.4, 0.8], [1, 0, 1, 0])
CLICKHOUSE_FIVE = _frame([0.1, 0.35, 0.4, 0.4, 0.8], [1, 0, 1, 0, 0])

# torchmetrics, documentation of BinaryAveragePrecision.
TORCHMETRICS = _frame([0, 0.5, 0.7, 0.8], [0, 1, 1, 0])

# The worst ranking there is (Boyd et al. 2012, arXiv 1206.4667): 90 negatives, then 10 positives.
WORST = _frame([*range(100, 0, -1)], [0] * 90 + [1] * 10)
# Positives and negatives in runs of 3, 7, 7 and 3, on which the grids of PASCAL VOC are compared.
RUNS = _frame([*range(20, 0, -1)], [1] * 3 + [0] * 7 + [1] * 7 + [0] * 3)

# xgboost, test of the metric aucpr.
XGBOOST = _frame([0.4, 0.2, 0.9, 0.1, 0.2, 0.4, 0.1, 0.1, 0.2, 0.1], [0, 0, 0, 0, 0, 1, 0, 0, 1, 1])
