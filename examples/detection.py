"""Average precision of an object detector per class, including the objects it never found.

Run it as ``python examples/detection.py``. The table of detections is the output of a matcher: one
row per detection, with its class, its score, and whether it matched an object that was not matched
before. Objects without a matching detection have no row; only their number per class is known. The
two are combined as counts, in which an object that was never found is a positive without a
threshold.
"""

from __future__ import annotations

import polars as pl

import frame_prc

DETECTIONS = pl.DataFrame(
    {
        "class": ["cat", "cat", "cat", "cat", "dog", "dog", "dog"],
        "matched": [True, False, True, False, True, True, False],
        "score": [0.95, 0.9, 0.6, 0.3, 0.8, 0.7, 0.65],
    }
)
OBJECTS = pl.DataFrame({"class": ["cat", "dog", "owl"], "objects": [3, 2, 1]})


def with_never_found(detections: pl.DataFrame, objects: pl.DataFrame) -> pl.DataFrame:
    """Return counts per class and score, with a row without a score for objects never found."""
    counts = frame_prc.counts(detections, "matched", "score", by="class")
    found = counts.group_by("class").agg(found=pl.col("pos").sum())
    never_found = objects.join(found, on="class", how="left").select(
        "class",
        threshold=pl.lit(None, dtype=pl.Float64),
        pos=pl.col("objects") - pl.col("found").fill_null(0),
        neg=pl.lit(0, dtype=pl.Int64),
    )
    return pl.concat([counts, never_found])


def main() -> None:
    """Print the areas that detection benchmarks report, per class."""
    areas = frame_prc.auc(
        with_never_found(DETECTIONS, OBJECTS),
        score="threshold",
        pos="pos",
        neg="neg",
        by="class",
        missing="unretrieved",
        method=["envelope", "11-point", "101-point"],
    )
    print(areas.pivot(on="method", index="class", values="auc"))


if __name__ == "__main__":
    main()
