"""Areas by method, as a verb finds them and by exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import oracle
import polars as pl
from exact import segments, table

import frame_prc

METHODS = ["step", "trapezoid", "interpolated", "envelope", "11-point", "101-point", "gain"]
# An area is a sum of a few numbers between 0 and 1; a gain may also be far below 0, and cancel.
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 1e-12}


def area(kind, df, method, **options):
    """Return one area of a frame without segments."""
    result = frame_prc.auc(kind.make(df), "truth", "score", method=method, **options)
    return kind.rows(result)["auc"].item()


def call(kind, df, **options):
    weight = "weight" if "weight" in df.columns else None
    return frame_prc.auc(kind.make(df), "truth", "score", weight=weight, **options)


def exact_areas(df, by, methods, change=lambda rows: rows, **options):
    amount = pl.Float64 if "weight" in df.columns else pl.Int64
    schema = {"n": amount, "n_pos": amount, "method": pl.String, "auc": pl.Float64}
    records = (
        (*key, *sized(rows, method, oracle.area(change(rows), method, **options)))
        for key, rows in segments(df, by).items()
        for method in methods
    )
    return table(df, by, records, schema | {"status": pl.String})


def sized(rows, method, found):
    """Return the columns of an area: the size of the segment, the method, the area, the status."""
    positives, negatives = oracle.totals(rows)
    lacks = {(True, True): "empty", (True, False): "no_positives", (False, True): "no_negatives"}
    status = lacks.get((not positives, not negatives), "ok")
    return positives + negatives, positives, method, found, status


def counted(classes):
    """Return positives and negatives, the highest score first, as a frame and as rows."""
    scores = [-place for place in range(len(classes))]
    df = pl.DataFrame(
        {"score": scores, "pos": [p for p, _ in classes], "neg": [n for _, n in classes]}
    )
    rows = [
        oracle.Row(truth, score, Fraction(amount))
        for score, amounts in zip(scores, classes, strict=True)
        for truth, amount in zip([True, False], amounts, strict=True)
        if amount > 0
    ]
    return df, rows
