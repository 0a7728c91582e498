"""Frames that are curves already, as ``curve`` returned them or as read back from a file."""

from __future__ import annotations

import polars as pl

from frame_prc._areas import AVERAGE_PRECISION
from frame_prc._columns import named
from frame_prc._curve import COLUMNS
from frame_prc.exceptions import ColumnError, OptionError, nearest

THRESHOLD = "threshold"
_THINNED = "precision_error"  # only curves that were thinned have it
POS, NEG = "\0pos", "\0neg"  # no key is called so

_CURVE = f"the columns {', '.join(COLUMNS)}, after its keys, as curve(...) returns them"


def check_no_roles(**given: object) -> None:
    """Refuse parameters for which a frame that is a curve already has no use."""
    for name, value in given.items():
        if value is not None:
            raise OptionError(
                f"{name}= is given without truth= and score=",
                "truth= and score= for single rows, score=, pos= and neg= for aggregated rows, or "
                "none of these for a frame that is a curve",
            )


def curve_keys(schema: pl.Schema) -> list[str]:
    """Return the keys of a curve: the columns before its threshold."""
    for name in COLUMNS:
        if name not in schema:
            raise ColumnError(
                f"without truth= and score= the frame must be a curve, and it has no column "
                f"{name!r}",
                _CURVE,
                nearest(name, schema),
            )
        if not schema[name].is_numeric():
            raise ColumnError(
                f"column {name!r} of the curve has dtype {schema[name]}",
                "numbers",
                "of a text with NA and Inf: pl.read_csv(..., null_values='NA', "
                f"schema_overrides={{{name!r}: pl.Float64}})",
            )
    return schema.names()[: schema.names().index(THRESHOLD)]


def in_drawing_order(points: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Return a curve in the order of ``curve``, wherever it has been since."""
    # Where a score is infinite too, the start point is the one that retrieves nothing.
    order = [*map(named, keys), pl.col(THRESHOLD), pl.col("tp") + pl.col("fp")]
    descending = [*(False for _ in keys), True, False]
    return points.sort(order, descending=descending, maintain_order=True)


def counts_of(points: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Return counts that have this curve: what each point adds, and what is never retrieved."""
    segment = [named(key) for key in keys]
    within = segment or [pl.lit(0)]
    added = [
        (pl.col(name) - pl.col(name).shift(1).over(within).fill_null(0)).alias(role)
        for role, name in ((POS, "tp"), (NEG, "fp"))
    ]
    is_last = pl.int_range(pl.len()).over(within) == pl.len().over(within) - 1
    never = [pl.col("fn").alias(POS), pl.col("tn").alias(NEG)]
    return pl.concat(
        [
            points.select(*segment, pl.col(THRESHOLD), *added),
            points.filter(is_last).select(*segment, *never),
        ],
        how="diagonal",
    )


def known_areas(areas: pl.LazyFrame, points: pl.LazyFrame) -> pl.LazyFrame:
    """Return the areas of counts, which are those of their curve unless it lacks points."""
    if _THINNED not in points.collect_schema():
        return areas
    return areas.with_columns(pl.lit(None, pl.Float64).alias(AVERAGE_PRECISION))
