"""Many calls at once, each equal to what it gave alone: a process of its own, since it may hang.

    cd tests/support
    python many_at_once.py threads 20 7    # 20 calls in each of 16 threads, drawn by seed 7
    python many_at_once.py processes 20 7  # the same calls in two spawned processes

When no call comes back for a while, the process prints the stack of every thread and ends.
"""

from __future__ import annotations

import faulthandler
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import polars.selectors as cs
from kinds import KINDS, VERBS, Kind
from matplotlib.figure import Figure
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import Draws

THREADS, PROCESSES = 16, 2
SILENCE = float(os.environ.get("SILENCE", "120"))  # seconds without a call that comes back
DIFFERENT_CALLS = 150
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 1e-12}

# --- frames ---------------------------------------------------------------------------------

# The last is long enough for a look at its scores.
HEIGHTS = (0, 30, 30, 400, 400, 400, 3_000, 25_000)


@cache
def frame(height: int) -> pl.DataFrame:
    """Return random rows with all columns that a call may name."""
    random = Random(height)  # noqa: S311 - no secret
    days = [datetime(2026, 1, 1) + timedelta(random.randrange(60)) for _ in range(height)]
    classes = ["red", "green", "blue"]
    return pl.DataFrame(
        {
            "segment": random.choices(["a", "b", "c", "d"], k=height),
            "day": days,
            "user": [random.randrange(1 + height // 5) for _ in days],
            "kind": [random.choice(classes) for _ in days],
            "truth": [random.random() < 0.3 for _ in days],
            "score": [random.choice([random.random(), round(random.random(), 2)]) for _ in days],
            "other": [random.random() for _ in days],
            "holes": [random.choice([None, random.random()]) for _ in days],
            "weight": [random.choice([1.0, 2.5, random.random()]) for _ in days],
        },
        schema_overrides={
            "segment": pl.Enum(["d", "c", "b", "a"]),
            "day": pl.Datetime("us"),
            "user": pl.Int64,
            "kind": pl.String,
            "truth": pl.Boolean,
            **dict.fromkeys(["score", "other", "holes", "weight"], pl.Float64),
        },
    )


@cache
def made(kind: str, height: int) -> Any:
    """Return these rows as a frame of a kind, the same for all threads.

    To be called by one thread alone: Polars hangs where one converts a frame to pandas while others
    work with it.
    """
    return kind_of(kind).make(frame(height).clone())


def kind_of(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


# --- calls ----------------------------------------------------------------------------------

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "counts": [{}, {"thresholds": 20}, {"squares": True}],
    "curve": [
        {},
        {"keep": "corners"},
        {"keep": 9},
        {"ci": 0.9, "gain": True},
        {"ci": 0.9, "cluster": "user"},
        {"thresholds": 9},
    ],
    "average_precision": [
        {},
        {"ci": 0.9},
        {"ci": 0.9, "cluster": "user"},
        {"ci": 0.9, "bootstrap": Draws(5, seed=1)},
        {"thresholds": 20, "bounds": True},
        {"ci": 0.9, "calibrate": "pooled"},
        {"ci": 0.9, "calibrate": 0.2, "cluster": "user"},
    ],
    "average": [
        {"by": "segment", "over": "segment"},
        {"by": "segment", "over": "segment", "how": "weighted", "ci": 0.9},
    ],
    "auc": [{"method": ["step", "trapezoid", "interpolated", "envelope", "gain", "11-point"]}],
    "operating_points": [{"recall": [0.2, 0.8], "f_beta": 1}, {"precision": 0.5}],
    "summary": [
        {},
        {"overall": True, "by": "segment"},
        {"overall": True, "by": "segment", "cluster": "user"},
    ],
    "reliability": [{}, {"by": "segment", "cluster": "user"}],
    "threshold_table": [{}, {"by": "segment", "cost": (1, 2)}],
    "heterogeneity": [{"by": "segment"}],
    "shrunk": [{"by": "segment"}],
    "find_segments": [{"by": "segment", "min_positives": 2}],
    "monitor": [{"by": "segment", "over": "segment", "plan": (2, 3)}],
    "influence": [{"by": "segment"}],
    "sample_size": [{"width": 0.1}, {"score": ["score", "other"], "difference": 0.05}],
    "band": [VERBS["band"]],
    "compare_models": [
        {"score": ["score", "other"]},
        {"score": ["score", "other"], "cluster": "user"},
        {"score": ["score", "other"], "by": "segment", "over": "segment"},
    ],
    "compare_segments": [
        {"by": "segment", "against": "others", "cluster": "user"},
        {"by": "segment", "against": "previous", "cluster": "user"},
        {"by": "segment", "against": "random", "permutations": Draws(5, seed=1)},
    ],
}
KEYS = [
    {},
    {"by": "segment"},
    {"by": ["segment", "kind"]},
    {"by": pl.col("day").dt.truncate("1w").alias("week")},
]
ROLES = [
    {},
    {"weight": "weight"},
    {"score": "holes", "missing": "drop"},
    {"score": "holes", "missing": "unretrieved"},
    {"score": "holes"},  # an error, which is an outcome as well
    {"score": {"a": "score", "b": "other"}},
]


@dataclass(frozen=True)
class Call:
    """A call of a verb on a frame of a kind."""

    verb: str
    kind: str
    height: int
    columns: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.verb} on {self.kind} of {self.height} rows: {self.columns}"

    def outcome(self) -> pl.DataFrame | str:
        """Return the rows of the result, or the text of one of our errors."""
        ask = SPECIAL.get(self.verb) or partial(_ask, self.verb)
        try:
            return ask(kind_of(self.kind), made(self.kind, self.height), self.columns)
        except frame_prc.PrcError as error:
            return f"{type(error).__name__}: {error}"


Columns = dict[str, Any]


def _ask(verb: str, kind: Kind, given: Any, columns: Columns) -> pl.DataFrame:
    return kind.rows(getattr(frame_prc, verb)(given, **columns))


def _labels(kind: Kind, given: Any, _: Columns) -> pl.DataFrame:
    scores = {"red": "score", "green": "other", "blue": "weight"}
    long = frame_prc.one_vs_rest(given, "kind", scores)
    return _ask(
        "average_precision", kind, long, {"truth": "truth", "score": "score", "by": "label"}
    )


def _merged(kind: Kind, given: Any, columns: Columns) -> pl.DataFrame:
    counts = frame_prc.counts(given, **columns)
    return kind.rows(frame_prc.merge_counts(counts, counts))


def _thresholds(_: Kind, given: Any, columns: Columns) -> pl.DataFrame:
    score = columns["score"] if isinstance(columns["score"], str) else "score"
    return pl.DataFrame({"threshold": frame_prc.quantile_thresholds(given, score, 20)})


def _expression(_: Kind, given: Any, __: Columns) -> pl.DataFrame:
    area = frame_prc.average_precision_expr("truth", "score", "weight").alias("area")
    return _lazy(given).group_by("segment").agg(area).sort("segment").collect()


def _without_us(_: Kind, given: Any, __: Columns) -> pl.DataFrame:
    """Work as other threads of a program do."""
    mean = pl.col("score").mean()
    return pl.from_pandas(
        _lazy(given).group_by("kind").agg(mean).sort("kind").collect().to_pandas()
    )


def _lazy(given: Any) -> pl.LazyFrame:
    is_pandas = not isinstance(given, (pl.DataFrame, pl.LazyFrame))
    return (pl.from_pandas(given) if is_pandas else given).lazy()


def _picture(verb: str, _: Kind, given: Any, columns: Columns) -> pl.DataFrame:
    chart = json.loads(getattr(frame_prc, verb)(given, **columns).to_json())
    tables = [
        pl.DataFrame(rows, infer_schema_length=None, strict=False)
        for rows in chart.get("datasets", {}).values()
    ]
    # They lie in the order of a hash of their digits, of which the last may be another.
    tables.sort(key=lambda table: str(table.with_columns(cs.float().round(6)).rows()))
    return pl.concat([pl.DataFrame(), *tables], how="diagonal_relaxed")


def _on_axes(verb: str, _: Kind, given: Any, columns: Columns) -> pl.DataFrame:
    drawn = getattr(frame_prc, verb)(given, **columns, ax=Figure().subplots())
    points = [pl.DataFrame(line.get_xydata(), ["x", "y"]) for line in drawn.lines]
    return pl.concat([pl.DataFrame(schema={"x": pl.Float64, "y": pl.Float64}), *points])


def _ggplot(_: Kind, given: Any, columns: Columns) -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "curves.tsv"
        frame_prc.write_ggplot(given, path, **columns)
        return pl.read_csv(path, separator="\t", infer_schema_length=None)


SPECIAL: dict[str, Callable[[Kind, Any, Columns], pl.DataFrame]] = {
    "one_vs_rest": _labels,
    "merge_counts": _merged,
    "quantile_thresholds": _thresholds,
    "average_precision_expr": _expression,
    "plain Polars and pandas": _without_us,
    "plot": partial(_picture, "plot"),
    "plot_summary": partial(_picture, "plot_summary"),
    "plot_scores": partial(_picture, "plot_scores"),
    "to_matplotlib": partial(_on_axes, "to_matplotlib"),
    "summary_to_matplotlib": partial(_on_axes, "summary_to_matplotlib"),
    "write_ggplot": _ggplot,
}


def random_calls(random: Random, number: int, kinds: Sequence[str]) -> list[Call]:
    """Draw calls of all verbs and kinds."""
    verbs = [*OPTIONS, *SPECIAL]
    calls = []
    for _ in range(number):
        verb = random.choice(verbs)
        columns = {"truth": "truth", "score": "score"} | random.choice(ROLES) | random.choice(KEYS)
        columns |= random.choice(OPTIONS.get(verb, [{}]))
        calls.append(Call(verb, random.choice(kinds), random.choice(HEIGHTS), columns))
    return calls


def check(call: Call, alone: pl.DataFrame | str) -> None:
    """Show that a call gives what it gave alone."""
    found = call.outcome()
    if isinstance(alone, str) or isinstance(found, str):
        assert found == alone, call
    else:
        try:
            assert_frame_equal(found, alone.clone(), **ROUNDED)
        except AssertionError as error:
            raise AssertionError(str(call)) from error


# --- at once --------------------------------------------------------------------------------


def in_threads(calls: Sequence[Call], outcomes: Sequence[pl.DataFrame | str]) -> None:
    """Make all calls from threads at once, and end the process when none comes back."""
    with ThreadPoolExecutor(THREADS) as pool:
        futures = [pool.submit(check, *pair) for pair in zip(calls, outcomes, strict=True)]
        for future in as_completed(futures):
            faulthandler.dump_traceback_later(SILENCE, exit=True)
            future.result()


def in_processes(calls: Sequence[Call], outcomes: Sequence[pl.DataFrame | str]) -> None:
    """Make all calls in new processes, and end this one when none comes back."""
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for _ in pool.imap_unordered(_check, zip(calls, outcomes, strict=True)):
            faulthandler.dump_traceback_later(SILENCE, exit=True)


def _check(pair: tuple[Call, pl.DataFrame | str]) -> None:
    check(*pair)


def main(how: str, number: int, seed: int) -> None:
    """Draw calls, make each alone, and all of them at once, in any order."""
    faulthandler.dump_traceback_later(SILENCE, exit=True)
    random = Random(seed)  # noqa: S311 - no secret
    threads, names = how == "threads", [kind.name for kind in KINDS]
    kinds = names if threads else [name for name in names if name in ("DataFrame", "pandas")]
    different = random_calls(random, min(number * THREADS, DIFFERENT_CALLS), kinds)
    alone = []
    for call in different:
        alone.append(call.outcome())
        faulthandler.dump_traceback_later(SILENCE, exit=True)
    drawn = random.choices(range(len(different)), k=number * THREADS)
    at_once = in_threads if threads else in_processes
    at_once([different[i] for i in drawn], [alone[i] for i in drawn])
    faulthandler.cancel_dump_traceback_later()
    refused = sum(isinstance(outcome, str) for outcome in alone)
    print(
        f"{len(drawn)} calls came back from {how}: {len(alone)} different, {refused} of them errors"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
