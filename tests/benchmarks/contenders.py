"""The same work done by frame_prc and by its peers, each the fastest fair way we know.

Every function takes a frame of :mod:`benchmarks.data` and the names of its key columns. The peers
return segments in any order, and need not be installed before they are called.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
from benchmarks import floors
from benchmarks.data import Source
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

import frame_prc
from frame_prc import Draws

Metric = Callable[..., Any]
RESAMPLES, LIMITS = 200, [0.025, 0.975]


# --- frame_prc -----------------------------------------------------------------------------


def areas(frame: Any, by: list[str] | None, weight: str | None = None) -> Any:
    """Average precision by frame_prc."""
    result = frame_prc.average_precision(frame, "truth", "score", by=by, weight=weight)
    return _collected(result)


def area_of_all(frame: Any, _by: list[str]) -> Any:
    """Average precision of all rows together by frame_prc, without keys."""
    return areas(frame, None)


def points(frame: Any, by: list[str], weight: str | None = None, keep: Any = "all") -> Any:
    """Points of the curve by frame_prc."""
    return _collected(frame_prc.curve(frame, "truth", "score", by=by, weight=weight, keep=keep))


def intervals(frame: Any, by: list[str], weight: str | None = None, **asked: Any) -> Any:
    """Average precision with its interval by frame_prc."""
    options = {"by": by, "weight": weight, "ci": 0.95, **asked}
    return _collected(frame_prc.average_precision(frame, "truth", "score", **options))


def summary(frame: Any, by: list[str], **asked: Any) -> Any:
    """Scorecards by frame_prc."""
    return _collected(frame_prc.summary(frame, "truth", "score", by=by, **asked))


def both_areas(frame: Any, by: list[str]) -> pl.Series:
    """Average precision and then the area under the ROC curve, on one evaluation."""
    evaluation = frame_prc.evaluate(frame, "truth", "score", by=by)
    evaluation.average_precision()
    return evaluation.auc(method="roc")["auc"]


def roc_areas(frame: Any, by: list[str]) -> pl.Series:
    """Area under the ROC curve by frame_prc."""
    return frame_prc.auc(frame, "truth", "score", by=by, method="roc")["auc"]


def counts(frame: Any, by: list[str]) -> Any:
    """Exact counts by frame_prc."""
    return frame_prc.counts(frame, "truth", "score", by=by)


def four_targets(frame: Any, by: list[str]) -> Any:
    """Operating points of four targets by frame_prc."""
    targets = {"recall": 0.8, "precision": 0.5, "f_beta": 1, "predicted_rate": 0.1}
    return frame_prc.operating_points(frame, "truth", "score", by=by, **targets)


def seven_areas(frame: Any, by: list[str]) -> Any:
    """Areas by all methods by frame_prc."""
    return frame_prc.auc(frame, "truth", "score", by=by, method=METHODS)


def two_models(frame: Any, by: list[str]) -> Any:
    """Comparison of two models on the same rows by frame_prc."""
    return frame_prc.compare_models(frame, "truth", ["score", "other"], by=by)


def _collected(result: Any) -> Any:
    return result.collect() if isinstance(result, pl.LazyFrame) else result


# --- peers ---------------------------------------------------------------------------------


def sklearn_loop(
    frame: pl.DataFrame, by: list[str], metric: Metric, weight: str | None = None
) -> list[Any]:
    """Loop of scikit-learn over NumPy arrays, split by Polars."""
    columns = ["truth", "score", *([weight] if weight else [])]
    # Polars splits about twice as fast as one argsort of the keys and np.split.
    parts = frame.select(*by, *columns).partition_by(by)
    arrays = ([part[column].to_numpy() for column in columns] for part in parts)
    with warnings.catch_warnings(action="ignore"):  # a segment may have no positives
        return [_called(metric, *part) for part in arrays]


def sklearn_once(frame: pl.DataFrame, _by: list[str]) -> list[float]:
    """One call of scikit-learn on all rows."""
    return [average_precision_score(frame["truth"].to_numpy(), frame["score"].to_numpy())]


def pandas_apply(frame: pd.DataFrame, by: list[str], metric: Metric) -> list[Any]:
    """Scikit-learn in ``groupby.apply`` of pandas."""
    groups = frame.groupby(by, observed=True)[["truth", "score"]]
    with warnings.catch_warnings(action="ignore"):
        return list(groups.apply(lambda group: _called(metric, group["truth"], group["score"])))


def sklearn_bootstrap(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Loop of scikit-learn over the segments, and in each over its resamples."""
    rng = np.random.default_rng(0)

    def limits(truth: np.ndarray, score: np.ndarray, **_: object) -> np.ndarray:
        places = (rng.integers(len(truth), size=len(truth)) for _ in range(RESAMPLES))
        areas = [average_precision_score(truth[place], score[place]) for place in places]
        return np.quantile(areas, LIMITS)

    return pl.DataFrame(sklearn_loop(frame, by, limits), schema=["ci_low", "ci_high"], orient="row")


def fairlearn(frame: pd.DataFrame, by: list[str], **asked: Any) -> Any:
    """Scikit-learn in the MetricFrame of fairlearn, whose scalars are its only results."""
    with warnings.catch_warnings(action="ignore"):
        return importlib.import_module("fairlearn.metrics").MetricFrame(
            metrics=average_precision_score,
            y_true=frame["truth"],
            y_pred=frame["score"],
            sensitive_features=frame[by],
            **asked,
        )


def fairlearn_areas(frame: pd.DataFrame, by: list[str]) -> list[float]:
    """Average precisions of fairlearn."""
    return list(fairlearn(frame, by).by_group)


def fairlearn_bootstrap(frame: pd.DataFrame, by: list[str]) -> pl.DataFrame:
    """Intervals of fairlearn."""
    asked = {"n_boot": RESAMPLES, "ci_quantiles": LIMITS, "random_state": 0}
    low, high = fairlearn(frame, by, **asked).by_group_ci
    return pl.DataFrame({"ci_low": [*low], "ci_high": [*high]})


def ranx(frame: pd.DataFrame, by: list[str]) -> list[float]:
    """Mean average precision of ranx, whose queries are the segments and documents the rows."""
    library = importlib.import_module("ranx")
    query = frame[by].astype(str).agg(" ".join, axis=1).astype(object)
    texts = {"q_id": query, "doc_id": frame.index.astype(str).astype(object)}
    rows = pd.DataFrame({**texts, "truth": frame["truth"].astype(int), "score": frame["score"]})
    relevant = library.Qrels.from_df(rows[frame["truth"]], score_col="truth")
    found = library.evaluate(relevant, library.Run.from_df(rows), "map", return_mean=False)
    return list(found)


def polars_ds(frame: pl.DataFrame, by: list[str], field: str = "avg_precision") -> pl.Series:
    """Average precision of polars_ds, which computes four more metrics beside it."""
    score = pl.col("score").cast(pl.Float64)  # all it takes
    metrics = importlib.import_module("polars_ds").query_binary_metrics("truth", score)
    return frame.group_by(by).agg(metrics.struct.field(field))[field]


def polarbearings(
    frame: pl.DataFrame, by: list[str], metric: str = "average_precision"
) -> pl.Series:
    """An expression of polarbearings for each segment."""
    area = getattr(importlib.import_module("polarbearings"), metric)
    return frame.group_by(by).agg(area("truth", "score", pos_label=True).alias("area"))["area"]


def polarbearings_curve(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Curves of polarbearings."""
    curve = importlib.import_module("polarbearings").pr_curve
    return curve(frame, "truth", "score", pos_label=True, by=by).collect()


def polarbearings_bootstrap(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Intervals of polarbearings, whose bootstrap draws weights."""
    library = importlib.import_module("polarbearings")
    asked = {"by": by, "pos_label": True, "n_resamples": RESAMPLES}
    found = library.bootstrap_ci(frame, library.average_precision, "truth", "score", **asked)
    return found.select(ci_low="low", ci_high="high")


def torchmetrics_loop(frame: pl.DataFrame, by: list[str], metric: str) -> list[Any]:
    """Loop of torchmetrics over tensors, split by Polars; in 64 bits, as all others."""
    torch = importlib.import_module("torch")
    torch.set_default_dtype(torch.float64)
    library = importlib.import_module("torchmetrics.functional.classification")
    function = getattr(library, f"binary_{metric}")
    parts = frame.select(*by, pl.col("truth").cast(pl.Int64), "score").partition_by(by)
    found = [function(part["score"].to_torch(), part["truth"].to_torch()) for part in parts]
    if metric == "precision_recall_curve":
        return [tuple(column.numpy() for column in curve) for curve in found]
    return [float(area) for area in found]


_POINTS = """
    WITH ties AS (
      SELECT {keys}, score, {pos} AS pos, {both} AS n FROM evaluated GROUP BY {keys}, score
    ), points AS (
      SELECT {keys}, score, pos, n, sum(pos) OVER best AS tp, sum(n) OVER best AS retrieved,
        sum(pos) OVER (PARTITION BY {keys}) AS positives
      FROM ties WINDOW best AS
        (PARTITION BY {keys} ORDER BY score DESC ROWS UNBOUNDED PRECEDING)
    )
"""
_AREAS = """
    SELECT {keys}, sum(pos * tp / retrieved) / any_value(positives) AS average_precision
    FROM points GROUP BY {keys}
"""
_ROC_AREAS = """
    SELECT {keys}, sum((n - pos) * (tp - pos / 2))
      / (any_value(positives) * (max(retrieved) - any_value(positives))) AS roc_auc
    FROM points GROUP BY {keys}
"""
_CURVE = """
    SELECT {keys}, score, tp, retrieved - tp AS fp, positives - tp AS fn,
      tp / retrieved AS precision, tp / positives AS recall
    FROM points ORDER BY {keys}, score DESC
"""


def duckdb(
    frame: pl.DataFrame, by: list[str], select: str, weight: str | None = None
) -> pl.DataFrame:
    """SQL in DuckDB: counts per score, then running sums in a window."""
    query = _query(by, select, weight)
    with importlib.import_module("duckdb").connect() as connection:
        connection.register("evaluated", frame.to_arrow())
        return pl.from_arrow(connection.sql(query).to_arrow_table())


def spark(frame: pl.DataFrame, by: list[str], select: str) -> pl.DataFrame:
    """The same SQL in a local Spark, whose session starts before it is timed."""
    session = _spark_session()
    session.createDataFrame(frame.to_arrow()).createOrReplaceTempView("evaluated")
    return pl.from_arrow(session.sql(_query(by, select)).toArrow())


@cache
def _spark_session() -> Any:
    builder = importlib.import_module("pyspark.sql").SparkSession.builder.master("local[*]")
    for name, value in {"driver.memory": "4g", "ui.enabled": False, "log.level": "ERROR"}.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.config("spark.sql.shuffle.partitions", 8).getOrCreate()


def _query(by: list[str], select: str, weight: str | None = None) -> str:
    count = f"sum({weight})" if weight else "count(*)"
    pos = f"coalesce({count} FILTER (WHERE truth), 0)"
    return (_POINTS + select).format(keys=", ".join(by), pos=pos, both=count)


def _called(metric: Metric, truth: Any, score: Any, weight: Any = None) -> Any:
    return metric(truth, score, sample_weight=weight)


# --- floors --------------------------------------------------------------------------------


def sort_polars(frame: pl.DataFrame, _by: list[str]) -> pl.Series:
    """Bare sort of the scores, the floor under everything exact."""
    return frame["score"].sort()


def sort_numpy(frame: pl.DataFrame, _by: list[str]) -> np.ndarray:
    """Bare sort of the scores by NumPy, on one core."""
    return np.sort(frame["score"].to_numpy())


def read(frame: pl.LazyFrame, by: list[str]) -> pl.DataFrame:
    """The columns in memory, and no more."""
    return frame.select(*by, "truth", "score").collect()


def idle(_frame: Any, _by: list[str]) -> None:
    """Nothing: what a process holds before any work."""


# --- all by name ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Contender:
    """A way to do the work: the frame it takes, and what it gives."""

    run: Callable[[Any, list[str]], object]
    source: Source = "Polars"
    gives: Literal["areas", "roc areas", "points", "else"] = "areas"
    # Columns it reads besides keys, truth, score and, if weighted, the weight.
    others: tuple[str, ...] = ()
    # One call for each segment: timed on a sample of the segments where they are many.
    loops: bool = False
    weighted: bool = False

    def columns(self, by: list[str]) -> list[str]:
        """Return the names of the columns it reads."""
        return [*by, "truth", "score", *(["weight"] if self.weighted else []), *self.others]


METHODS = ["step", "trapezoid", "interpolated", "envelope", "11-point", "101-point", "gain"]
_WEIGHT = {"weight": "weight"}
_BOOTSTRAP = {"bootstrap": Draws(1000, seed=0)}
_AP = {"metric": average_precision_score}
_PR = {"metric": precision_recall_curve}
_ROC = {"gives": "roc areas"}
_LOOP = {"loops": True}

CONTENDERS: dict[str, Contender] = {
    "ap": Contender(areas),
    "ap, no keys": Contender(area_of_all, gives="else"),
    "ap from Parquet": Contender(areas, "Parquet"),
    "ap from pandas": Contender(areas, "pandas"),
    "ap weighted": Contender(partial(areas, **_WEIGHT), weighted=True),
    "curve": Contender(points, gives="points"),
    "curve from Parquet": Contender(points, "Parquet", gives="points"),
    "curve from pandas": Contender(points, "pandas", gives="points"),
    "curve weighted": Contender(partial(points, **_WEIGHT), gives="points", weighted=True),
    "corners": Contender(partial(points, keep="corners"), gives="else"),
    "corners from Parquet": Contender(partial(points, keep="corners"), "Parquet", gives="else"),
    "interval": Contender(intervals, gives="else"),
    "interval weighted": Contender(partial(intervals, **_WEIGHT), gives="else", weighted=True),
    "bootstrap": Contender(partial(intervals, **_BOOTSTRAP), gives="else"),
    "bootstrap of 200": Contender(
        partial(intervals, bootstrap=Draws(RESAMPLES, seed=0)), gives="else"
    ),
    "ROC AUC": Contender(roc_areas, **_ROC),
    "cluster": Contender(partial(intervals, cluster="user"), gives="else", others=("user",)),
    "ap, interval": Contender(intervals, gives="else"),
    "summary": Contender(summary, gives="else"),
    "four measures": Contender(
        partial(summary, measures=["roc_auc", "brier", "log_loss"]), gives="else"
    ),
    "four measures, no intervals": Contender(
        partial(summary, measures=["roc_auc", "brier", "log_loss"], ci=None), gives="else"
    ),
    "both areas": Contender(both_areas, **_ROC),
    "counts": Contender(counts, gives="else"),
    "operating points": Contender(four_targets, gives="else"),
    "seven areas": Contender(seven_areas, gives="else"),
    "compare": Contender(two_models, gives="else", others=("other",)),
    "scikit-learn loop": Contender(partial(sklearn_loop, **_AP), loops=True),
    "scikit-learn loop, weighted": Contender(
        partial(sklearn_loop, **_AP, **_WEIGHT), loops=True, weighted=True
    ),
    "scikit-learn loop, curve": Contender(partial(sklearn_loop, **_PR), gives="points", loops=True),
    "scikit-learn loop, weighted curve": Contender(
        partial(sklearn_loop, **_PR, **_WEIGHT), gives="points", loops=True, weighted=True
    ),
    "scikit-learn once": Contender(sklearn_once, gives="else"),
    "groupby.apply": Contender(partial(pandas_apply, **_AP), "pandas", loops=True),
    "groupby.apply, curve": Contender(
        partial(pandas_apply, **_PR), "pandas", gives="points", loops=True
    ),
    "scikit-learn loop, ROC AUC": Contender(
        partial(sklearn_loop, metric=roc_auc_score), **_ROC, **_LOOP
    ),
    "scikit-learn loop, bootstrap": Contender(sklearn_bootstrap, gives="else", loops=True),
    "fairlearn": Contender(fairlearn_areas, "pandas", loops=True),
    "fairlearn, bootstrap": Contender(fairlearn_bootstrap, "pandas", gives="else", loops=True),
    "ranx": Contender(ranx, "pandas"),
    "polars_ds": Contender(polars_ds),
    "polars_ds, ROC AUC": Contender(partial(polars_ds, field="roc_auc"), **_ROC),
    "polarbearings": Contender(polarbearings),
    "polarbearings, ROC AUC": Contender(partial(polarbearings, metric="roc_auc"), **_ROC),
    "polarbearings, curve": Contender(polarbearings_curve, gives="points"),
    "polarbearings, bootstrap": Contender(polarbearings_bootstrap, gives="else"),
    "torchmetrics loop": Contender(partial(torchmetrics_loop, metric="average_precision"), **_LOOP),
    "torchmetrics loop, ROC AUC": Contender(
        partial(torchmetrics_loop, metric="auroc"), **_ROC, **_LOOP
    ),
    "torchmetrics loop, curve": Contender(
        partial(torchmetrics_loop, metric="precision_recall_curve"), gives="points", loops=True
    ),
    "DuckDB": Contender(partial(duckdb, select=_AREAS)),
    "DuckDB, ROC AUC": Contender(partial(duckdb, select=_ROC_AREAS), **_ROC),
    "Spark": Contender(partial(spark, select=_AREAS)),
    "Spark, ROC AUC": Contender(partial(spark, select=_ROC_AREAS), **_ROC),
    "Spark, curve": Contender(partial(spark, select=_CURVE), gives="points"),
    "DuckDB, weighted": Contender(partial(duckdb, select=_AREAS, **_WEIGHT), weighted=True),
    "DuckDB, curve": Contender(partial(duckdb, select=_CURVE), gives="points"),
    "DuckDB, weighted curve": Contender(
        partial(duckdb, select=_CURVE, **_WEIGHT), gives="points", weighted=True
    ),
    "sort": Contender(sort_polars, gives="else"),
    "NumPy sort": Contender(sort_numpy, gives="else"),
    "bare ap": Contender(floors.areas, gives="else"),
    "bare ap, told apart": Contender(floors.areas_told_apart, gives="else"),
    "bare curve": Contender(floors.curve, gives="else"),
    "bare operating points": Contender(floors.operating_points, gives="else"),
    "bare curve from Parquet": Contender(floors.curve, "Parquet", gives="else"),
    "bare ap from pandas": Contender(
        partial(floors.of_pandas, floors.areas), "pandas", gives="else"
    ),
    "bare curve from pandas": Contender(
        partial(floors.of_pandas, floors.curve), "pandas", gives="else"
    ),
    "bare weighted": Contender(floors.weighted, gives="else", weighted=True),
    "bare curve weighted": Contender(floors.weighted_curve, gives="else", weighted=True),
    "bare cluster": Contender(floors.clusters, gives="else", others=("user",)),
    "bare compare": Contender(floors.comparison, gives="else", others=("other",)),
    "bare summary": Contender(floors.scorecards, gives="else"),
    "bare counts first": Contender(floors.distinct, gives="else"),
    "read": Contender(read, "Parquet", gives="else"),
    "idle": Contender(idle, "Parquet", gives="else"),
}


# --- agreement -----------------------------------------------------------------------------


def area_values(result: Any) -> pl.Series:
    """Return average precisions in ascending order, 0 where there are no positives."""
    if _is_frame(result):
        [area] = {"average_precision", "roc_auc"} & {*result.columns}
        result = result[area]
    return pl.Series(result, dtype=pl.Float64).fill_nan(0).fill_null(0).sort()


def point_values(result: Any) -> pl.Series:
    """Return recall and precision of all points with true positives, in ascending order."""
    if _is_frame(result):
        found = pl.DataFrame({name: result[name] for name in ("precision", "recall")})
    else:
        found = pl.DataFrame(_point_columns(result))
    # Where there are none, conventions differ: on the start, and on recall without positives.
    found = found.filter(pl.col("recall") > 0, pl.col("precision") > 0)
    return pl.concat([found["recall"].sort(), found["precision"].sort()])


def _point_columns(curves: list[tuple[np.ndarray, ...]]) -> dict[str, np.ndarray]:
    def joined(place: int) -> Iterator[np.ndarray]:
        return (curve[place] for curve in curves)

    return {"precision": np.concatenate([*joined(0)]), "recall": np.concatenate([*joined(1)])}


def _is_frame(result: Any) -> bool:
    return isinstance(result, (pl.DataFrame, pd.DataFrame))
