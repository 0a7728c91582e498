"""Time frame_prc and its peers on many kinds of rows: ``python tests/benchmarks/compare.py``.

Prints one table per kind of rows. ``--quick`` takes a fiftieth of the rows, to see that it runs;
``--out FILE.csv`` writes all tables as one tidy table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import contenders
from benchmarks.data import Rows
from benchmarks.measure import times

MILLIONS = Rows(5_000_000, segments=100)
OPTIONAL = ("polars_ds", "duckdb")
LOOPS = ("sklearn_loop", "pandas_apply")
# Loops are timed on at most so many segments, and their time is scaled up to all.
SAMPLE = 2_000

AREAS = ("ap", "sklearn_loop", *OPTIONAL)
ALL = (*AREAS, "curve", "corners", "sort_polars", "sort_numpy")
CASES: dict[Rows, tuple[str, ...]] = {
    MILLIONS: ALL,
    replace(MILLIONS, score="Float32"): ALL,
    replace(MILLIONS, score="2 decimals"): ALL,
    replace(MILLIONS, key="string"): ALL,
    replace(MILLIONS, key="categorical"): ALL,
    replace(MILLIONS, key="two columns"): ALL,
    replace(MILLIONS, zipf=True): ALL,
    replace(MILLIONS, segments=1): ("ap_whole", *ALL),
    replace(MILLIONS, segments=100_000): ALL,
    replace(MILLIONS, weighted=True): ("ap", "ap_weighted", "sklearn_loop_weighted"),
    Rows(1_000_000, segments=1_000): (*AREAS, "pandas_apply"),
    Rows(1_000_000, segments=20_000): (*AREAS, "pandas_apply"),
    Rows(1_000, segments=1): ("ap_whole", *AREAS, "curve", "corners"),
}


def main() -> None:
    """Read the command line, compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the rows, 1 round")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each (default 5)")
    parser.add_argument("--out", type=Path, help="write the tables to this CSV file")
    arguments = parser.parse_args()

    tables = []
    for rows, names in CASES.items():
        size = _smaller(rows) if arguments.quick else rows
        tables.append(compare(size, names, 1 if arguments.quick else arguments.rounds))
        print(f"\n{size}")
        with pl.Config(
            tbl_rows=-1,
            tbl_hide_dataframe_shape=True,
            tbl_hide_column_data_types=True,
            float_precision=4,
        ):
            print(tables[-1].drop("rows"))
    if arguments.out:
        pl.concat(tables).write_csv(arguments.out)


def compare(rows: Rows, names: Iterable[str], rounds: int) -> pl.DataFrame:
    """Time contenders on the same rows: medians, and how many times the ``ap`` each takes."""
    frame = rows.frame()
    sampled = rows.segments > SAMPLE
    sample = _sample(frame, rows.by) if sampled else frame
    runs = {name: _run(name, sample if name in LOOPS else frame, rows.by) for name in names}
    unable = {name: why for name in OPTIONAL if name in runs and (why := _why_unable(name, runs))}
    runs = {name: run for name, run in runs.items() if name not in unable}
    if not sampled:
        _check_agreement(runs)
    rounds = rounds if rows.rows > SAMPLE else 20 * rounds  # calls of milliseconds are noisier
    table = times(runs, rounds).with_columns(note=pl.lit(""))
    if sampled:
        table = table.with_columns(_scaled(frame.height / sample.height))
    absent = pl.DataFrame(
        {"contender": list(unable), "note": list(unable.values())},
        schema={"contender": pl.String, "note": pl.String},
    )
    return (
        pl.concat([table, absent], how="diagonal")
        .with_columns(times_ap=pl.col("median") / _median_of("ap"))
        .select(
            pl.lit(str(rows)).alias("rows"),
            "contender",
            "times_ap",
            pl.exclude("contender", "times_ap"),
        )
    )


def _why_unable(name: str, runs: dict[str, Callable[[], object]]) -> str:
    if find_spec(name) is None:
        return "not installed"
    try:
        runs[name]()
    except Exception as error:  # polars_ds, for one, raises where a segment has no positives
        return f"raised {type(error).__name__}"
    return ""


def _sample(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    some = frame.select(by).unique(maintain_order=True).head(SAMPLE)
    return frame.join(some, on=by, how="semi")


def _run(name: str, frame: pl.DataFrame, by: list[str]) -> Callable[[], object]:
    argument = frame.to_pandas() if name == "pandas_apply" else frame
    return partial(getattr(contenders, name), argument, by)


def _scaled(factor: float) -> list[pl.Expr]:
    is_loop = pl.col("contender").is_in(LOOPS)
    seconds = pl.col("median", "min", "max")
    return [
        pl.when(is_loop).then(seconds * factor).otherwise(seconds),
        pl.when(is_loop)
        .then(pl.lit(f"scaled from {SAMPLE:,} segments"))
        .otherwise("note")
        .alias("note"),
    ]


def _median_of(name: str) -> pl.Expr:
    return pl.col("median").filter(pl.col("contender") == name).first()


def _check_agreement(runs: dict[str, Callable[[], object]]) -> None:
    """Times of different results would compare nothing."""
    areas = {name: _areas(run()) for name, run in runs.items() if name in AREAS}
    for name, area in areas.items():
        worst = (area - areas.get("ap", area)).abs().max()
        if worst > 1e-6:
            raise ValueError(f"{name} differs from ap by {worst}")


def _areas(result: object) -> pl.Series:
    """Return average precisions in ascending order, 0 where there are no positives."""
    values = result["average_precision"] if isinstance(result, pl.DataFrame) else result
    return pl.Series(values, dtype=pl.Float64).fill_nan(0).fill_null(0).sort()


def _smaller(rows: Rows) -> Rows:
    few = max(rows.rows // 50, 1_000)
    return replace(rows, rows=few, segments=min(rows.segments, few // 50))


if __name__ == "__main__":
    main()
