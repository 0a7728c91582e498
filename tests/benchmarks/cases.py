"""What is compared with what, on which rows: the cases of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from benchmarks.contenders import CONTENDERS
from benchmarks.data import Rows
from benchmarks.runs import Run

MILLIONS = Rows(5_000_000, segments=100)
MANY = replace(MILLIONS, segments=100_000)

OURS = ("ap", "curve", "corners")
FLOORS = ("sort", "NumPy sort")
AREAS = ("scikit-learn loop", "groupby.apply", "polars_ds", "DuckDB")
CURVES = ("scikit-learn loop, curve", "groupby.apply, curve", "DuckDB, curve")
ALL = (*OURS, *AREAS, *CURVES, *FLOORS)
WEIGHTED = ("ap", "curve", *(name for name, it in CONTENDERS.items() if it.weighted))
INPUTS = ("ap", "ap from Parquet", "ap from pandas")
CURVE_INPUTS = ("curve", "curve from Parquet", "curve from pandas")
# Calls per segment in Python are left to the other cases: they take minutes here.
GROWING = (*OURS, "scikit-learn loop", "polars_ds", "DuckDB", "DuckDB, curve", *FLOORS)
SMALL = (*ALL, "fairlearn", "ap from Parquet", "ap from pandas")

Kinds = list[tuple[Rows, Iterable[str]]]

KEYS: Kinds = [
    (MILLIONS, (*ALL, *INPUTS, *CURVE_INPUTS)),
    (replace(MILLIONS, key="string"), (*ALL, *INPUTS, *CURVE_INPUTS)),
    (replace(MILLIONS, key="categorical"), (*ALL, *INPUTS, *CURVE_INPUTS)),
    (replace(MILLIONS, key="two columns"), ALL),
    (replace(MILLIONS, zipf=True), ALL),
    (replace(MILLIONS, segments=1), ("ap, no keys", *ALL)),
    (MANY, ALL),
    (replace(MANY, key="string"), ALL),
    (replace(MANY, key="categorical"), ALL),
    (replace(MANY, key="two columns"), ALL),
    (replace(MANY, zipf=True), ALL),
]
SCORES: Kinds = [
    (MILLIONS, (*ALL, *WEIGHTED)),
    (replace(MILLIONS, score="Float32"), (*ALL, *WEIGHTED)),
    (replace(MILLIONS, score="2 decimals"), (*ALL, *WEIGHTED)),
    (replace(MILLIONS, prevalence=0.001), ALL),
    (replace(MILLIONS, prevalence=0.02), ALL),
    (replace(MILLIONS, prevalence=0.5), ALL),
    (replace(MANY, score="Float32"), OURS + FLOORS),
    (replace(MANY, score="2 decimals"), OURS + FLOORS),
]
GROWTH: Kinds = [
    *(
        (replace(MILLIONS, rows=rows, segments=10), GROWING)
        for rows in (1_000, 10_000, 100_000, 1_000_000, 5_000_000, 20_000_000, 50_000_000)
    ),
    *(
        (replace(MILLIONS, segments=segments), GROWING)
        for segments in (1, 10, 100, 1_000, 10_000, 100_000)
    ),
]
SMALL_SIZES: Kinds = [
    (Rows(1_000, segments=1), ("ap, no keys", "scikit-learn once", *SMALL)),
    (Rows(1_000, segments=10), SMALL),
    (Rows(10_000, segments=1), ("ap, no keys", "scikit-learn once", *SMALL)),
    (Rows(10_000, segments=100), SMALL),
    (Rows(100_000, segments=100), SMALL),
]
LOOPS = ("scikit-learn loop", "groupby.apply")
THOUSAND = Rows(1_000_000, segments=1_000)
PEERS: Kinds = [
    (MILLIONS, ("ap", *LOOPS, "polars_ds", "DuckDB", "sort")),
    (THOUSAND, ("ap", *LOOPS, "polars_ds", "DuckDB", "fairlearn", "ranx", "sort")),
    (replace(THOUSAND, segments=20_000), ("ap", *LOOPS, "polars_ds", "DuckDB", "sort")),
]
CASES: dict[str, Kinds] = {
    "peers": PEERS,
    "keys": KEYS,
    "scores": SCORES,
    "growth": GROWTH,
    "small": SMALL_SIZES,
}


def groups(case: str, *, quick: bool) -> list[list[Run]]:
    """Return the runs of a case, in groups that are timed in turn."""
    sized = [(rows.smaller() if quick else rows, names) for rows, names in CASES[case]]
    return [
        [Run(rows, name) for name in dict.fromkeys(names)] for rows, names in dict(sized).items()
    ]
