"""Verbs called in a step of a plan, on a thread of Polars: they come back, though others wait too.

Usage: ``python inside_a_plan.py ENGINE``, with ``POLARS_MAX_THREADS`` set.
"""

from __future__ import annotations

import sys

import polars as pl

import frame_prc
from frame_prc import _execution

N_ROWS, N_GROUPS = 20_000, 8


def compared(values: list[pl.Series] | pl.Series) -> pl.Series:
    """Return the number of rows of a comparison of two models."""
    column = values if isinstance(values, pl.Series) else values[0]
    found = frame_prc.compare_models(column.struct.unnest(), "truth", ["a", "b"], by="segment")
    return pl.Series([found.height])


def main() -> None:
    engine = sys.argv[1]
    _execution.SIZES = _execution.Sizes(many=1)  # as if there were many
    number = pl.int_range(N_ROWS, eager=True)
    scores = {name: (number.hash(seed) % 1_000) / 1_000 for seed, name in enumerate("ab")}
    frame = pl.DataFrame(
        {"segment": number % 5, "truth": number % 3 == 0, "group": number % N_GROUPS, **scores}
    ).lazy()
    row = pl.struct("segment", "truth", "a", "b")
    made = {"return_dtype": pl.Int64, "returns_scalar": True}
    of_all = frame.select(
        row.map_batches(compared, **made), again=row.map_batches(compared, **made)
    )
    of_groups = frame.group_by("group").agg(pl.map_groups([row], compared, **made))
    assert of_all.collect(engine=engine).row(0) == (5, 5)
    assert of_groups.collect(engine=engine).height == N_GROUPS
    print("calls came back")


if __name__ == "__main__":
    main()
