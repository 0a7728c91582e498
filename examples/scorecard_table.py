"""A scorecard for a slide: average precision per carrier, with its interval drawn as a bar.

Run it as ``python examples/scorecard_table.py [PAGE]`` after ``pip install great-tables``. The page
is ``out/scorecard.html`` by default. ``scorecard(...).save("scorecard.png")`` makes a picture for a
slide, if Chrome is installed. Flights of one day are not independent, so the intervals take the day
as the cluster. The rows of all flights and of the mean of the carriers are in a group of their own.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
from great_tables import GT

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
OVERALL = {"pooled": "All flights", "macro": "Mean of the carriers"}
WIDTH, HEIGHT = 240, 16  # of a bar, in pixels


def scorecard(flights: pl.DataFrame, model: str) -> GT:
    """Return the table of a model: carriers by falling average precision, then the totals."""
    ev = frame_prc.evaluate(flights, "late", model, by="carrier", cluster="day")
    table = ev.summary(overall=True, details=True)
    return (
        GT(_rows(table), rowname_col="carrier", groupname_col="group")
        .fmt_integer("n")
        .fmt_percent("prevalence", decimals=0)
        .fmt_number(["average_precision", "lift"], n_sigfig=3)
        .fmt(_bar, "interval", rows=pl.col("interval").is_not_null())
        .sub_missing(missing_text="n/a")
        .cols_align("left", "interval")
        .cols_label(
            n="Flights",
            prevalence="Late",
            average_precision="Average precision",
            interval="95% interval",
            lift="Lift",
        )
        .tab_header("Which flights arrive late?", f"{model.title()}, July to December 2013")
        .tab_source_note(
            "The scale of the bars begins at 0; the line is the average precision of all flights. "
            "Lift: average precision over that of a random order."
        )
    )


def _rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows and columns to show; an interval has the parts of its bar, from 0 to 1."""
    overall, area = pl.col("level") != "segment", pl.col("average_precision")
    pooled = area.filter(pl.col("level") == "pooled").first()
    parts = [pl.col("ci_low"), area, pl.col("ci_high"), pooled]
    interval = pl.concat_list(part / pl.col("ci_high").max() for part in parts)
    falling = pl.when(~overall).then(-area)
    name = pl.col("level").replace_strict(OVERALL, default=pl.col("carrier"))
    return table.sort(overall, falling, nulls_last=True, maintain_order=True).select(
        pl.when(overall).then(pl.lit("Overall")).otherwise(pl.lit("Carriers")).alias("group"),
        name.alias("carrier"),
        "n",
        "prevalence",
        "average_precision",
        pl.when(pl.col("ci_low").is_not_null()).then(interval).alias("interval"),
        "lift",
    )


def _bar(parts: list[float]) -> str:
    """Return a drawing of an interval, its middle, and a line to compare with."""
    low, middle, high, line = (round(part * WIDTH, 1) for part in parts)
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}">'
        f'<line x1="{line}" x2="{line}" y2="{HEIGHT}" stroke="#bbbbbb"/>'
        f'<rect x="{low}" width="{high - low:.1f}" y="5" height="6" fill="#56B4E9"/>'
        f'<circle cx="{middle}" cy="8" r="4" fill="#0072B2"/>'
        "</svg>"
    )


def main(page: Path) -> None:
    """Write the scorecard of the better model."""
    page.parent.mkdir(parents=True, exist_ok=True)
    html = scorecard(pl.read_parquet(FLIGHTS), "boosting").as_raw_html(make_page=True)
    page.write_text(html, encoding="utf-8")
    print(f"The scorecard is in {page}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/scorecard.html"))
