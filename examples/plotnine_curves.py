"""Precision-recall curves per airport and model, drawn with plotnine.

Run it as ``python examples/plotnine_curves.py [PICTURE]`` after ``pip install plotnine``. The
picture is ``out/plotnine.png`` by default. For R see ``write_ggplot``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
from plotnine import (
    aes,
    coord_equal,
    element_rect,
    facet_wrap,
    geom_hline,
    geom_line,
    geom_step,
    ggplot,
    labs,
    scale_color_manual,
    theme,
    theme_minimal,
)

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
MODELS = ["logistic", "boosting"]


def draw(curves: pl.DataFrame, areas: pl.DataFrame) -> ggplot:
    """Draw a curve per model in a panel per airport, over the airport's prevalence."""
    return (
        ggplot(curves, aes("recall", "precision"))
        + geom_line(aes(group="f_score"), frame_prc.iso_f1(), color="#d9d9d9", size=0.3)
        + geom_hline(aes(yintercept="prevalence"), areas, linetype="dashed", color="#666666")
        # "vh" holds the precision of a point back to the previous recall, as average precision
        # does; the rows are in drawing order.
        + geom_step(aes(color="model"), direction="vh", size=0.6)
        + facet_wrap("origin")
        + scale_color_manual(["#0072B2", "#D55E00"])  # Okabe and Ito
        + coord_equal(xlim=(0, 1), ylim=(0, 1))
        + labs(x="Recall", y="Precision", color="", title="Which flights arrive late?")
        + theme_minimal()
        + theme(
            figure_size=(10, 4),
            legend_position="top",
            plot_background=element_rect("white", "white"),
        )
    )


def main(picture: Path) -> None:
    """Draw the curves of the flights."""
    flights = pl.read_parquet(FLIGHTS)
    curves = frame_prc.curve(flights, "late", MODELS, by="origin", keep="corners")
    areas = frame_prc.average_precision(flights, "late", MODELS, by="origin", details=True)
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(curves, areas).save(picture, dpi=110, verbose=False)
    print(f"The curves are in {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/plotnine.png"))
