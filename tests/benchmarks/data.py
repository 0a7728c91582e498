"""Frames to measure on: seeded, and every property of the rows that costs time is a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

Score = Literal["Float64", "uniform", "Float32", "2 decimals"]
Key = Literal["integer", "string", "categorical", "two columns"]
Source = Literal["Polars", "pandas", "Parquet"]

# What makes one call per segment is timed on at most so many of them, drawn at random.
SAMPLE = 2_000
_FEW = 5_000_000


@dataclass(frozen=True)
class Rows:
    """Rows to evaluate: Boolean ``truth``, ``score`` from 0 to 1, keys, and ``weight``.

    ``other`` is the score of a second model, and ``user`` a cluster of about 25 rows.
    ``zipf`` makes segment ``k`` hold rows in proportion to ``1 / k``; otherwise all segments are
    about as large as each other. The scores of positives are higher, and all classes overlap.
    """

    rows: int
    segments: int
    zipf: bool = False
    prevalence: float = 0.2
    score: Score = "Float64"
    key: Key = "integer"
    seed: int = 0

    @property
    def by(self) -> list[str]:
        """Names of the key columns."""
        return ["segment", "part"] if self.key == "two columns" else ["segment"]

    def __str__(self) -> str:
        size = f"{self.rows:,} rows, {self.segments:,} segment" + "s" * (self.segments > 1)
        return ", ".join([size, *self.unusual])

    @property
    def unusual(self) -> list[str]:
        """What sets these rows apart from others of their size."""
        properties = {
            self.score: self.score != "Float64",
            f"{self.key} key": self.key != "integer",
            "Zipf sizes": self.zipf,
            f"prevalence {self.prevalence}": self.prevalence != Rows.prevalence,
        }
        return [name for name, holds in properties.items() if holds]

    def smaller(self) -> Rows:
        """Return few rows of the same kind, for a run that only shows that all works."""
        rows = max(self.rows // 50, 100_000)
        if rows >= self.rows:
            return self
        return replace(self, rows=rows, segments=min(self.segments, rows // 500))

    def frame(self) -> pl.DataFrame:
        """Make the frame; the same parameters always give the same rows."""
        rng = np.random.default_rng(self.seed)
        number = _segment_numbers(rng, self.rows, self.segments, zipf=self.zipf)
        truth = rng.random(self.rows) < self.prevalence
        score = _scores(rng, truth, uniform=self.score == "uniform")
        weight = rng.exponential(size=self.rows)
        other = _scores(rng, truth, uniform=self.score == "uniform")
        user = rng.integers(max(self.rows // 25, 1), size=self.rows)
        columns = {"number": number, "truth": truth, "score": score, "weight": weight}
        frame = pl.DataFrame({**columns, "other": other, "user": user})
        return frame.with_columns(_score(self.score)).select(*_keys(self.key), pl.exclude("number"))


class Input:
    """The same rows as every kind of frame, each made when first asked for."""

    def __init__(self, frame: pl.DataFrame, by: list[str], path: Path) -> None:
        self.frame, self.by, self._path = frame, by, path

    def read(self, source: Source) -> Any:
        """Return the rows as a contender takes them."""
        kinds: dict[Source, Callable[[], Any]] = {
            "Polars": lambda: self.frame,
            "pandas": lambda: self._pandas,
            "Parquet": lambda: pl.scan_parquet(self.path),
        }
        return kinds[source]()

    @cached_property
    def path(self) -> Path:
        """A Parquet file of the rows."""
        self.frame.write_parquet(self._path)
        return self._path

    @cached_property
    def sample(self) -> Input:
        """All rows of some segments, drawn at random; the input itself where they are few."""
        names = self.frame.select(self.by).unique(maintain_order=True)
        if names.height <= SAMPLE:
            return self
        some = self.frame.join(names.sample(SAMPLE, seed=0), on=self.by, how="semi")
        return Input(some, self.by, self._path.with_stem(f"{self._path.stem} sample"))

    @cached_property
    def few(self) -> Input:
        """Rows enough to see whether contenders agree: the first of the sample's."""
        some = self.sample.frame.head(_FEW)
        return Input(some, self.by, self._path.with_stem(f"{self._path.stem} few"))

    def scale(self) -> float:
        """Return how many segments there are for each one in the sample."""
        return self._segments / self.sample._segments  # noqa: SLF001 - of its own class

    @cached_property
    def _segments(self) -> int:
        return self.frame.select(self.by).n_unique()

    @cached_property
    def _pandas(self) -> Any:
        return self.frame.to_pandas()


def make_input(rows: Rows, folder: Path) -> Input:
    """Make rows, and name the file in a folder that will hold them if need be."""
    return Input(rows.frame(), rows.by, folder / f"{rows}.parquet")


def _segment_numbers(
    rng: np.random.Generator, rows: int, segments: int, *, zipf: bool
) -> np.ndarray:
    if not zipf:
        return rng.integers(segments, size=rows)
    share = 1 / np.arange(1, segments + 1)
    return rng.choice(segments, size=rows, p=share / share.sum())


def _scores(rng: np.random.Generator, truth: np.ndarray, *, uniform: bool) -> np.ndarray:
    """Return overlapping scores; uniform ones, of negatives, need more bits than logistic ones."""
    if uniform:
        return np.maximum(rng.random(len(truth)), truth * rng.random(len(truth)))
    return 1 / (1 + np.exp(-(rng.standard_normal(len(truth)) + 1.5 * truth)))


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
