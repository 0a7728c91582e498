"""Precision-recall curves per airport and model, drawn with plotnine.

Run it as ``python examples/plotnine_curves.py [PICTURE]`` after ``pip install plotnine``. The
picture is ``out/plotnine.png`` by default. For R see ``write_ggplot``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import plotnine as p9
import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
MODELS = ["logistic", "boosting"]


def draw(curves: pl.DataFrame, areas: pl.DataFrame) -> p9.ggplot:
    """Draw a curve per model in a panel per airport, over the airport's prevalence."""
    return (
        p9.ggplot(curves, p9.aes("recall", "precision"))
        + p9.geom_line(p9.aes(group="f_score"), frame_prc.iso_f1(), color="#d9d9d9", size=0.3)
        + p9.geom_hline(p9.aes(yintercept="prevalence"), areas, linetype="dashed", color="#666666")
        # "vh" holds the precision of a point back to the previous recall, as average precision
        # does; the rows are in drawing order.
        + p9.geom_step(p9.aes(color="model"), direction="vh", size=0.6)
        + p9.facet_wrap("origin")
        + p9.scale_color_manual(["#0072B2", "#D55E00"])  # Okabe and Ito
        + p9.coord_equal(xlim=(0, 1), ylim=(0, 1))
        + p9.labs(x="Recall", y="Precision", color="", title="Which flights arrive late?")
        + p9.theme_minimal()
        + p9.theme(
            figure_size=(10, 4),
            legend_position="top",
            plot_background=p9.element_rect("white", "white"),
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
