"""Ten classes, one curve each, and the averages over them.

Run it as ``python examples/multiclass.py [FOLDER]`` after ``pip install '.[plot]'``. It prints the
average precision of each digit against the rest and three averages, and draws
``FOLDER/multiclass.png`` (``out/...`` by default). The scores are described in ``make_digits.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import polars as pl

import frame_prc

DIGITS = Path(__file__).parent / "data" / "digits.parquet"
HOW: tuple[Literal["mean", "weighted", "micro"], ...] = ("mean", "weighted", "micro")


def main(folder: Path) -> None:
    """Print and draw how well each digit is separated from the rest."""
    wide = pl.read_parquet(DIGITS)
    scores = {digit: f"p{digit}" for digit in range(10)}
    long = frame_prc.one_vs_rest(wide, "digit", scores)
    table = frame_prc.average_precision(long, "truth", "score", by="label", ci=0.95)
    print(table.select("label", "n_pos", "average_precision", "ci_low", "ci_high"))
    for how in HOW:
        mean = frame_prc.average(long, "truth", "score", by="label", over="label", how=how)
        print(f"{how}: {mean['average_precision'].item():.4f}")

    chart = frame_prc.plot_summary(long, "truth", "score", by="label", title="Handwritten digits")
    folder.mkdir(parents=True, exist_ok=True)
    chart.save(folder / "multiclass.png", ppi=110)
    print(f"The picture is {folder / 'multiclass.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
