"""The curve of one small classifier as a TSV file for R.

Run it as ``python examples/breast_cancer.py [FOLDER]``. It writes ``FOLDER/breast_cancer.tsv``
(``out/breast_cancer.tsv`` by default) for ``breast_cancer.R``, with the columns ``Precision``,
``Recall`` and ``Decision Threshold``, up to the first point of full recall. The scores are
described in ``make_breast_cancer.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

SCORES = Path(__file__).parent / "data" / "breast_cancer.parquet"


def main(folder: Path) -> None:
    """Write the curve, highest threshold first."""
    curve = frame_prc.curve(pl.read_parquet(SCORES), "benign", "score")
    until_full_recall = curve.filter(pl.col("fn").shift(1, fill_value=1) > 0)
    table = until_full_recall.select(
        pl.col("precision").alias("Precision"),
        pl.col("recall").alias("Recall"),
        pl.col("threshold").alias("Decision Threshold"),
    )
    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "breast_cancer.tsv", separator="\t")
    print(f"{table.height} points are in {folder / 'breast_cancer.tsv'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
