"""Frames to measure on: seeded, and every property of the rows that costs time is a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

Score = Literal["Float64", "Float32", "2 decimals"]
Key = Literal["integer", "string", "categorical", "two columns"]


@dataclass(frozen=True)
class Rows:
    """Rows to evaluate: Boolean ``truth``, ``score`` from 0 to 1, keys, and ``weight`` if asked.

    ``zipf`` makes segment ``k`` hold rows in proportion to ``1 / k``; otherwise all segments are
    about as large as each other. The scores of positives are higher, and all classes overlap.
    """

    rows: int
    segments: int
    zipf: bool = False
    prevalence: float = 0.2
    score: Score = "Float64"
    key: Key = "integer"
    weighted: bool = False
    seed: int = 0

    @property
    def by(self) -> list[str]:
        """Names of the key columns."""
        return ["segment", "part"] if self.key == "two columns" else ["segment"]

    def __str__(self) -> str:
        size = f"{self.rows:,} rows, {self.segments:,} segment" + "s" * (self.segments > 1)
        unusual = {
            self.score: self.score != "Float64",
            f"{self.key} key": self.key != "integer",
            "Zipf sizes": self.zipf,
            "weighted": self.weighted,
        }
        return ", ".join([size, *(name for name, holds in unusual.items() if holds)])

    def frame(self) -> pl.DataFrame:
        """Make the frame; the same parameters always give the same rows."""
        rng = np.random.default_rng(self.seed)
        number = _segment_numbers(rng, self.rows, self.segments, zipf=self.zipf)
        truth = rng.random(self.rows) < self.prevalence
        score = 1 / (1 + np.exp(-(rng.standard_normal(self.rows) + 1.5 * truth)))
        weight = {"weight": rng.exponential(size=self.rows)} if self.weighted else {}
        frame = pl.DataFrame({"number": number, "truth": truth, "score": score, **weight})
        return frame.with_columns(_score(self.score)).select(*_keys(self.key), pl.exclude("number"))


def _segment_numbers(
    rng: np.random.Generator, rows: int, segments: int, *, zipf: bool
) -> np.ndarray:
    if not zipf:
        return rng.integers(segments, size=rows)
    share = 1 / np.arange(1, segments + 1)
    return rng.choice(segments, size=rows, p=share / share.sum())


def _score(score: Score) -> pl.Expr:
    column = pl.col("score")
    if score == "Float32":
        return column.cast(pl.Float32)
    return column.round(2) if score == "2 decimals" else column


def _keys(key: Key) -> list[pl.Expr]:
    number = pl.col("number")
    name = pl.format("segment {}", number)
    keys = {
        "integer": [number.alias("segment")],
        "string": [name.alias("segment")],
        "categorical": [name.cast(pl.Categorical).alias("segment")],
        "two columns": [
            pl.format("segment {}", number // 10).alias("segment"),
            (number % 10).alias("part"),
        ],
    }
    return keys[key]
