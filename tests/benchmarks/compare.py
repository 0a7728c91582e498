"""Time and weigh frame_prc and its peers: ``python tests/benchmarks/compare.py``.

Prints one Markdown table per case, and for ``targets`` what was asked, found and met; ``--out``
writes all that was measured as one tidy table, and ``--draw`` a picture of the growth.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import cases, targets
from benchmarks.data import Rows
from benchmarks.draw import draw
from benchmarks.measure import Peak, Timing
from benchmarks.runs import Run, time_all, weigh_all

# Below this the memory of a process is mostly that of its modules.
WORTH_WEIGHING = 1_000_000
# Calls per segment, by the minute, are not made again to be weighed.
LOOPS = ("groupby.apply", "scikit-learn loop", "fairlearn")
NAMES = ("targets", *cases.CASES)


def main() -> None:
    """Read the command line, measure, and print."""
    asked = _arguments()
    names = [name for name in NAMES if asked.cases in (name, "all")]
    tables = []
    for name in names:
        with TemporaryDirectory() as folder:
            tables.append(table(name, asked.rounds, Path(folder), quick=asked.quick))
        if asked.out:
            pl.concat(tables).write_csv(asked.out)
    if asked.draw:
        draw(pl.concat(tables), asked.draw)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", choices=[*NAMES, "all"], default="targets")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each (default 5)")
    parser.add_argument("--quick", action="store_true", help="few rows, to see that all works")
    parser.add_argument("--out", type=Path, metavar="CSV", help="write all measurements here")
    parser.add_argument("--draw", type=Path, metavar="PNG", help="draw the case growth here")
    return parser.parse_args()


def table(case: str, rounds: int, folder: Path, *, quick: bool) -> pl.DataFrame:
    """Measure a case, print what it says, and return all of it."""
    rounds = 1 if quick else rounds
    print(f"\n### {case}\n", flush=True)
    if case == "targets":
        kinds = targets.Kinds(Rows.smaller if quick else _unchanged)
        found = targets.measure(kinds, rounds, folder)
        _print(targets.verdicts(kinds, found))
        times, peaks = found.times, found.peaks
    else:
        times, peaks = _measured(cases.groups(case, quick=quick), rounds, folder)
    tidy = _tidy(case, times, peaks)
    _print(_ratios(tidy))
    return tidy


def _unchanged(rows: Rows) -> Rows:
    return rows


def _measured(
    groups: list[list[Run]], rounds: int, folder: Path
) -> tuple[dict[Run, Timing], dict[Run, Peak]]:
    times: dict[Run, Timing] = {}
    peaks: dict[Run, Peak] = {}
    for group in groups:
        times |= time_all(group, rounds, folder)
        weighed = [run for run in group if times[run].seconds and _worth_weighing(run)]
        peaks |= weigh_all(weighed, 1, folder)
        print(f"{group[0].rows}: done", file=sys.stderr, flush=True)
    return times, peaks


def _worth_weighing(run: Run) -> bool:
    return run.rows.rows >= WORTH_WEIGHING and not run.contender.startswith(LOOPS)


def _tidy(case: str, times: dict[Run, Timing], peaks: dict[Run, Peak]) -> pl.DataFrame:
    """Return one row per run: what it was, its seconds, its bytes, and how they compare."""
    runs = [*dict.fromkeys([*times, *peaks])]
    measured = [_row(run, times.get(run, Timing(())), peaks.get(run)) for run in runs]
    ap = pl.col("median").filter(contender="ap").first().over("kind")
    return pl.DataFrame(measured, schema=SCHEMA, orient="row").with_columns(
        case=pl.lit(case),
        times_ap=pl.col("median") / ap,
        times_columns=pl.col("peak_bytes") / pl.col("column_bytes"),
    )


SCHEMA = {
    "kind": pl.String,
    "rows": pl.Int64,
    "segments": pl.Int64,
    "contender": pl.String,
    "median": pl.Float64,
    "min": pl.Float64,
    "max": pl.Float64,
    "rounds": pl.Int64,
    "note": pl.String,
    "peak_bytes": pl.Int64,
    "result_bytes": pl.Int64,
    "column_bytes": pl.Int64,
}


def _row(run: Run, timing: Timing, peak: Peak | None) -> tuple[object, ...]:
    seconds = timing.seconds
    spread = (timing.median, min(seconds), max(seconds)) if seconds else (None, None, None)
    weights = (peak.bytes, peak.result, peak.columns) if peak else (None, None, None)
    named = (str(run.rows), run.rows.rows, run.rows.segments, run.contender)
    return (*named, *spread, len(seconds), timing.note, *weights)


def _ratios(tidy: pl.DataFrame) -> pl.DataFrame:
    """Return one column per kind of rows: times as long as ``ap``, and the peak memory."""
    seconds = pl.format("{} s", _short("median"))
    ratio = pl.when(pl.col("contender") == "ap").then(seconds).otherwise(_short("times_ap"))
    peak = pl.format("{} MB", (pl.col("peak_bytes") / 1e6).round(0).cast(pl.Int64))
    note = pl.col("note").replace("", None)
    cell = pl.concat_str(ratio, peak, note, separator="; ", ignore_nulls=True)
    return tidy.with_columns(cell=cell).pivot("kind", index="contender", values="cell")


def _short(column: str) -> pl.Expr:
    return pl.col(column).round_sig_figs(2).cast(pl.String)


def _print(shown: pl.DataFrame) -> None:
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=60_000,
        fmt_str_lengths=1000,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
    ):
        print(shown.fill_null(""), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
