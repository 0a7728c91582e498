"""The same work done by frame_prc and by its peers, each the fastest fair way we know.

Every function takes a frame of :mod:`benchmarks.data` and the names of its key columns; those of
frame_prc take a scan of it as well. The peers return segments in any order, and need not be
installed before they are called.
"""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pandas as pd
import polars as pl
from sklearn.metrics import average_precision_score

import frame_prc

Frame = pl.DataFrame | pl.LazyFrame


def ap(frame: Frame, by: list[str]) -> pl.DataFrame:
    """Average precision by frame_prc."""
    return _collected(frame_prc.average_precision(frame, "truth", "score", by=by))


def ap_whole(frame: Frame, _by: list[str]) -> pl.DataFrame:
    """Average precision of all rows together by frame_prc, without keys."""
    return _collected(frame_prc.average_precision(frame, "truth", "score"))


def ap_weighted(frame: Frame, by: list[str]) -> pl.DataFrame:
    """Weighted average precision by frame_prc."""
    return _collected(frame_prc.average_precision(frame, "truth", "score", by=by, weight="weight"))


def curve(frame: Frame, by: list[str]) -> pl.DataFrame:
    """Every point of the curve by frame_prc."""
    return _collected(frame_prc.curve(frame, "truth", "score", by=by))


def corners(frame: Frame, by: list[str]) -> pl.DataFrame:
    """Only the corners of the curve by frame_prc."""
    return _collected(frame_prc.curve(frame, "truth", "score", by=by, keep="corners"))


def summary(frame: Frame, by: list[str]) -> pl.DataFrame:
    """Scorecards by frame_prc."""
    return _collected(frame_prc.summary(frame, "truth", "score", by=by))


def bootstrap(frame: Frame, by: list[str]) -> pl.DataFrame:
    """Average precision with a bootstrap of 1,000 replicates by frame_prc."""
    asked = {"ci": 0.95, "ci_method": "bootstrap", "replicates": 1000, "seed": 0}
    return _collected(frame_prc.average_precision(frame, "truth", "score", by=by, **asked))


def idle(frame: Frame, by: list[str]) -> None:
    """Nothing: what a process holds before any work."""


def read(frame: Frame, by: list[str]) -> pl.DataFrame:
    """The columns in memory, and no more."""
    return _collected(frame.select(*by, "truth", "score"))


def sklearn_loop(frame: pl.DataFrame, by: list[str]) -> list[float]:
    """Loop of scikit-learn over NumPy arrays, split by Polars."""
    return _sklearn_loop(frame, by, ["truth", "score"])


def sklearn_loop_weighted(frame: pl.DataFrame, by: list[str]) -> list[float]:
    """Weighted loop of scikit-learn over NumPy arrays, split by Polars."""
    return _sklearn_loop(frame, by, ["truth", "score", "weight"])


def pandas_apply(frame: pd.DataFrame, by: list[str]) -> pd.Series:
    """Scikit-learn in ``groupby.apply`` of pandas."""
    groups = frame.groupby(by)[["truth", "score"]]
    with warnings.catch_warnings(action="ignore"):
        return groups.apply(lambda group: average_precision_score(group["truth"], group["score"]))


def polars_ds(frame: pl.DataFrame, by: list[str]) -> pl.Series:
    """Average precision of polars_ds, which computes four more metrics beside it."""
    score = pl.col("score").cast(pl.Float64)  # all it takes
    metrics = importlib.import_module("polars_ds").query_binary_metrics("truth", score)
    return frame.group_by(by).agg(metrics.struct.field("avg_precision"))["avg_precision"]


def duckdb(frame: pl.DataFrame, by: list[str]) -> list[float]:
    """Average precision in SQL: counts per score, then running sums in a window."""
    keys = ", ".join(by)
    connection = importlib.import_module("duckdb").connect()
    connection.register("evaluated", frame.to_arrow())
    rows = connection.execute(
        f"""
        WITH ties AS (
          SELECT {keys}, score, count(*) FILTER (WHERE truth) AS pos, count(*) AS n
          FROM evaluated GROUP BY {keys}, score
        ), points AS (
          SELECT {keys}, pos, sum(pos) OVER best AS tp, sum(n) OVER best AS retrieved
          FROM ties WINDOW best AS
            (PARTITION BY {keys} ORDER BY score DESC ROWS UNBOUNDED PRECEDING)
        )
        SELECT sum(pos * tp / retrieved) / sum(pos) FROM points GROUP BY {keys}
        """  # noqa: S608
    ).fetchall()
    return [row[0] for row in rows]


def sort_polars(frame: pl.DataFrame, _by: list[str]) -> pl.Series:
    """Bare sort of the scores, the floor under everything exact."""
    return frame["score"].sort()


def sort_numpy(frame: pl.DataFrame, _by: list[str]) -> np.ndarray:
    """Bare sort of the scores by NumPy, on one core."""
    return np.sort(frame["score"].to_numpy())


def _collected(result: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    return result.lazy().collect()


def _sklearn_loop(frame: pl.DataFrame, by: list[str], columns: list[str]) -> list[float]:
    # Polars splits about twice as fast as one argsort of the keys and np.split.
    parts = frame.select(*by, *columns).partition_by(by)
    with warnings.catch_warnings(action="ignore"):  # a segment may have no positives
        return [
            average_precision_score(truth, score, sample_weight=weight[0] if weight else None)
            for truth, score, *weight in ([part[c].to_numpy() for c in columns] for part in parts)
        ]


def _collected(result: Frame) -> pl.DataFrame:
    return result.collect() if isinstance(result, pl.LazyFrame) else result
