"""Rows with three models, and comparisons of them."""

from __future__ import annotations

from typing import Any

import polars as pl

import frame_prc

TEST = ["ap_a", "ap_b", "difference", "std_error", "ci_low", "ci_high", "p_value"]
# A difference of areas that nearly cancel keeps the rounding of the areas.
ROUNDED = {"rel_tol": 1e-9, "abs_tol": 1e-9}
ROWS = pl.DataFrame(
    {
        "region": ["n"] * 7 + ["s"] * 6 + [None] * 3,
        "truth": [1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1],
        "old": [0.9, 0.8, 0.8, 0.5, 0.4, 0.3, 0.2, 0.7, 0.6, 0.6, 0.2, 0.1, 0.5, 0.3, 0.2, 0.1],
        "new": [0.8, 0.1, 0.9, 0.5, 0.6, 0.6, 0.2, 0.3, 0.6, 0.4, 0.2, 0.5, 0.9, 0.1, 0.9, 0.2],
        "third": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.6, 0.1, 0.2, 0.1, 0.3, 0.3, 0.4, 0.1],
        "weight": [1.0, 2.0, 0.5, 1.0, 3.0, 1.5, 1.0, 1.0, 2.0, 1.0, 0.0, 0.25, 2.0, 1.0, 1.0, 1.0],
        "user": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 1, 2],
    }
)


def compared(kind: Any, df: pl.DataFrame, score: Any = ("new", "old"), **options: Any):
    score = list(score) if isinstance(score, tuple) else score
    return kind.rows(frame_prc.compare(kind.make(df), "truth", score, **options))
