"""A call of every public function that takes a frame, for frames that come from other packages."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure

import frame_prc
from frame_prc import Draws

ROWS = pl.DataFrame(
    {
        "region": ["b", "a", None, "b", "a", None] * 2,
        "late": [True, False, True, False, True, False] * 2,
        "score": [0.9, 0.4, 0.4, 0.2, 0.7, 0.1, 0.8, 0.5, 0.3, 0.25, 0.6, 0.0],
        "other": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, 0.8, 0.7, 0.65, 0.55, 0.45],
        "kind": ["cat", "dog", "cat", "dog", "cat", "dog"] * 2,
    }
)
OF_ROWS = {"truth": "late", "score": "score", "by": "region"}


def _of_rows(verb: str, **asked: Any) -> Callable[[Any], Any]:
    return lambda frame: getattr(frame_prc, verb)(frame, **{**OF_ROWS, **asked})


def _chart(chart: Any) -> str:
    return json.dumps(chart.to_dict(), sort_keys=True)


def _written(frame: Any) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        paths = frame_prc.write_ggplot(frame, Path(folder) / "late.tsv", **OF_ROWS)
        return [path.read_text() for path in paths]


def _reported(frame: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        (path,) = frame_prc.report(frame, Path(folder) / "late.json", **OF_ROWS)
        return path.read_text(encoding="utf-8")


def _on_axes(verb: str) -> Callable[[Any], list[list[float]]]:
    def drawn(frame: Any) -> list[list[float]]:
        lines = _of_rows(verb, ax=Figure().subplots())(frame).lines
        return [line.get_xydata().tolist() for line in lines]

    return drawn


# What gives a frame of the kind that came in, and what gives something else.
TABLES: dict[str, Callable[[Any], Any]] = {
    "auc": _of_rows("auc"),
    "average": _of_rows("average", over="region"),
    "average_precision": _of_rows("average_precision", ci=0.9),
    "band": _of_rows("band", recalls=3, bootstrap=Draws(50, seed=1)),
    "compare_models": _of_rows("compare_models", score=["score", "other"]),
    "compare_segments": _of_rows("compare_segments"),
    "counts": _of_rows("counts"),
    "curve": _of_rows("curve"),
    "evaluate": lambda frame: frame_prc.evaluate(frame, "late", "score").counts(),
    "heterogeneity": _of_rows("heterogeneity"),
    "shrunk": _of_rows("shrunk"),
    "find_segments": _of_rows(
        "find_segments", columns="region", min_positives=1, measure="roc_auc"
    ),
    "monitor": _of_rows("monitor", over="region", plan=(2, 3)),
    "influence": _of_rows("influence"),
    "prediction_powered": lambda frame: frame_prc.prediction_powered(
        frame, "late", "score", proxy="late"
    ),
    "sample_size": _of_rows("sample_size", width=0.1),
    "sample_to_label": lambda frame: frame_prc.sample_to_label(frame, "score", 2, by="region"),
    "one_vs_rest": lambda frame: frame_prc.one_vs_rest(
        frame, "kind", {"cat": "score", "dog": "other"}, by="region"
    ),
    "operating_points": _of_rows("operating_points", recall=0.5),
    "reliability": _of_rows("reliability", bins=[0, 0.5, 1]),
    "summary": _of_rows("summary", overall=True),
    "threshold_table": _of_rows("threshold_table", cost=(1, 10)),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "report": _reported,
    "plot": lambda frame: _chart(_of_rows("plot")(frame)),
    "plot_summary": lambda frame: _chart(_of_rows("plot_summary")(frame)),
    "plot_scores": lambda frame: _chart(_of_rows("plot_scores")(frame)),
    "plot_table": lambda frame: _chart(
        frame_prc.plot_table(_of_rows("average_precision", ci=0.9)(frame))
    ),
    "to_matplotlib": _on_axes("to_matplotlib"),
    "summary_to_matplotlib": _on_axes("summary_to_matplotlib"),
    "quantile_thresholds": lambda frame: frame_prc.quantile_thresholds(frame, "score", 3),
    "write_ggplot": _written,
}

every_table = pytest.mark.parametrize("verb", TABLES)
every_other = pytest.mark.parametrize("verb", OTHERS)
