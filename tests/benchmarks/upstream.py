"""Single steps that take Polars longer than NumPy, in a form that could be filed upstream.

Run it as ``python tests/benchmarks/upstream.py``. It prints the least time of 7 turns of each, on
5 million rows, after it has seen that both give the same. Nothing of frame_prc is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
import polars as pl

ROWS, TURNS = 5_000_000, 7

rng = np.random.default_rng(0)
INTEGERS = rng.integers(2**63, size=ROWS, dtype=np.uint64)
VALUES = rng.random(ROWS)
PLACES = rng.permutation(ROWS).astype(np.uint32)
ENDS = rng.random(ROWS) < 0.2
ENDS[-1] = True

integers, values, places, ends = (
    pl.Series(name, array)
    for name, array in (("i", INTEGERS), ("v", VALUES), ("p", PLACES), ("e", ENDS))
)
RUN = np.cumsum(ENDS) - ENDS  # the number of the run that each row is in
runs = pl.DataFrame([values, pl.Series("run", RUN)]).lazy().set_sorted("run")


def placed_by_numpy() -> np.ndarray:
    """Put values in their places."""
    found = np.empty_like(VALUES)
    found[PLACES] = VALUES
    return found


def run_sums_by_numpy() -> np.ndarray:
    """Add up each run of rows."""
    last = np.flatnonzero(ENDS)
    return np.add.reduceat(VALUES, np.concatenate([[0], last[:-1] + 1]))


def run_sums_by_polars() -> pl.Series:
    """Add up each run of rows, which are sorted by the number of their run."""
    sums = runs.group_by("run", maintain_order=True).agg(pl.col("v").sum())
    return sums.collect()["v"]


STEPS: dict[str, tuple[Callable[[], pl.Series], Callable[[], np.ndarray]]] = {
    "sort of UInt64": (integers.sort, lambda: np.sort(INTEGERS)),
    "values put at places": (lambda: (values * 0).scatter(places, values), placed_by_numpy),
    "sums of runs of sorted rows": (run_sums_by_polars, run_sums_by_numpy),
    "running count of Booleans": (ends.cum_sum, lambda: np.cumsum(ENDS, dtype=np.uint32)),
}


def least(step: Callable[[], object]) -> float:
    """Return the least time of some turns, in milliseconds."""
    times = []
    for _ in range(TURNS):
        began = perf_counter()
        step()
        times.append(perf_counter() - began)
    return min(times) * 1_000


def main() -> None:
    """Print the times of both."""
    rows = []
    for name, (by_polars, by_numpy) in STEPS.items():
        np.testing.assert_allclose(by_polars().to_numpy(), by_numpy(), rtol=1e-12)
        rows.append((name, least(by_polars), least(by_numpy)))
    table = pl.DataFrame(rows, ["step", "Polars_ms", "NumPy_ms"], orient="row")
    print(f"Polars {pl.__version__}, {pl.thread_pool_size()} threads, NumPy {np.__version__}")
    print(table.with_columns(ratio=pl.col("Polars_ms") / pl.col("NumPy_ms")))


if __name__ == "__main__":
    main()
