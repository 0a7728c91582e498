"""The demonstration: a scorecard, a table for R and a chart of the bundled flights."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

import frame_prc
from frame_prc.cli import tables
from frame_prc.cli.output import save_chart, show_text
from frame_prc.cli.work import Progress, done
from frame_prc.exceptions import FileError

if TYPE_CHECKING:
    from rich.console import Console

_TRUTH, _MODELS, _KEY = "late", ["logistic", "boosting"], "carrier"
_CLUSTER = "day"  # flights of one day share its weather and each other's delays
_SHOWN = (
    *(_KEY, "n", "n_pos", "prevalence", "average_precision", "ci_low", "ci_high", "lift"),
    "status",
)


def demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write.")] = Path(
        "frame-prc-demo"
    ),
    *,
    debug: Annotated[  # noqa: ARG001 - read from the arguments
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
) -> None:
    """Print a scorecard of flights; write a chart and a table for R.

    \b
    Example:
      frame-prc demo
    """  # noqa: D301 - Typer keeps the lines after it
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"the folder {str(folder)!r} cannot be created: {error.strerror}",
            hint="frame-prc demo FOLDER writes to another folder",
        ) from error
    flights = pl.scan_parquet(bundled_flights())
    scores = done(lambda: scorecards(flights), Progress("computing the scorecards"))
    show_text(lambda console: _show(scores, console))
    # Full paths and a URL, which open wherever a browser or R is started.
    html, tsv, script = done(
        lambda: write(flights, folder.resolve()), Progress("drawing the curves")
    )
    written = _WRITTEN.format(
        html=html.as_uri(),
        tsv=tsv,
        script=script,
        quoted=shlex.quote(str(script)),
        program=_program(),
    )
    show_text(lambda console: console.print(written, soft_wrap=True))


def _show(scores: pl.DataFrame, console: Console) -> None:
    console.print(_introduction(scores), soft_wrap=True)
    tables.show(scorecard(scores), [_KEY], console)


def bundled_flights() -> Path:
    """Return the path of the flights: in the installed package, or else in the checkout."""
    package = Path(frame_prc.__file__).parent
    for folder in (package / "data", package.parent / "examples" / "data"):
        if (folder / "flights.parquet").is_file():
            return folder / "flights.parquet"
    raise FileError(
        f"the bundled flights are not in {str(package)!r}",
        hint="reinstall frame-prc from its checkout or wheel",
    )


def scorecards(flights: pl.LazyFrame) -> pl.DataFrame:
    """Return the scorecard of both models, per carrier and overall."""
    table = frame_prc.summary(
        flights, _TRUTH, _MODELS, by=_KEY, cluster=_CLUSTER, overall=True, details=True
    )
    return table.collect()


def scorecard(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the columns to show, for the model with the highest pooled average precision."""
    best = scores.filter(pl.col("model") == _pooled(scores)[0]["model"])
    overall = pl.when(pl.col("level") == "segment").then(_KEY).otherwise("level")
    return best.with_columns(overall.alias(_KEY)).select(_SHOWN)


def write(flights: pl.LazyFrame, folder: Path) -> tuple[Path, Path, Path]:
    """Write the chart, the table for R and the script that draws it; return their paths."""
    html = folder / "flights.html"
    tsv, script = frame_prc.write_ggplot(flights, folder / "flights.tsv", _TRUTH, _MODELS, by=_KEY)
    chart = frame_prc.plot(flights, _TRUTH, _MODELS, by=_KEY, cluster=_CLUSTER)
    save_chart(chart, str(html))
    return html, tsv, script


def _pooled(scores: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the pooled rows, the best model first."""
    pooled = scores.filter(pl.col("level") == "pooled")
    return pooled.sort("average_precision", descending=True).to_dicts()


def _introduction(scores: pl.DataFrame) -> str:
    best, other = _pooled(scores)
    return (
        f"{best['n']:,} flights from New York, July to December 2013; {best['prevalence']:.0%} "
        "arrived at least 30 minutes late.\n"
        f"Of two models, {best['model']} has the higher average precision: "
        f"{best['average_precision']:.3f}; {other['model']} has "
        f"{other['average_precision']:.3f}.\n"
        f"Scorecard of {best['model']} by {_KEY}, rows clustered by {_CLUSTER} (pooled: all rows; "
        "macro: mean of carriers):\n"
    )


def _program() -> str:
    """Return the command that runs this program."""
    if shutil.which("frame-prc"):
        return "frame-prc"
    path = Path(sys.argv[0])
    return os.path.relpath(path) if path.name == "frame-prc" else f"{sys.executable} -m frame_prc"


_WRITTEN = """
Written:
  {html}
    the curves of both models, for a browser
  {tsv}
    the curves as a table
  {script}
    an R script that draws the table: Rscript {quoted}

To do the same for your own file, such as a CSV whose column outcome is yes or no:
  {program} summary mine.csv --truth outcome --pos-label yes --score model --by region
  {program} plot mine.csv --truth outcome --pos-label yes --score model --by region -o curves.html
"""
