"""Rows that reports are made of."""

from __future__ import annotations

import numpy as np
import polars as pl

HOSTILE = [
    "<script>document.title = 'broken'</script>",
    "</style></script><!--",
    "${x} {{ y }} {% z %}",
    "\u202eabc\u200f",
    "x" * 10_000,
    "a'\"&b\n\0",
    None,
    "",
]
KEY, MODELS = '</th> "k"', ["</script><script>document.title = 'broken'</script>", "b & b"]


def rows(number: int, segments: int, rate: float = 0.4) -> pl.DataFrame:
    """Return rows with a truth, two models of which ``good`` is better, a segment, and a day."""
    rng = np.random.default_rng(number + segments)
    truth = rng.random(number) < rate
    good, weak = (np.round(truth * x + rng.random(number), 3) for x in (0.8, 0.1))
    segment = [f"s{i:04d}" for i in rng.integers(0, segments, number)]
    day = pl.Series(rng.integers(0, 28, number))
    return pl.DataFrame(
        {"truth": truth, "weak": weak, "good": good, "segment": segment}
    ).with_columns(day=pl.date(2024, 1, 1) + pl.duration(days=day))


def hostile() -> pl.DataFrame:
    """Return rows with hostile keys and names."""
    df = rows(800, len(HOSTILE))
    keys = [HOSTILE[int(name[1:])] for name in df["segment"]]
    return df.select(
        "truth",
        pl.Series(KEY, keys),
        *(pl.col(a).alias(b) for a, b in zip(("weak", "good"), MODELS, strict=True)),
    )
