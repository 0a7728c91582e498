"""Counts of parts, added up inside an engine: they are counted again, as rows that hold counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import polars as pl

from frame_prc._curves.counts import ADDABLE, BOUNDS, check_frames
from frame_prc._engines.counts import in_ranking_order
from frame_prc._engines.operations import Engine, Frame
from frame_prc._engines.rows import Counted, check_case, count, schema_of
from frame_prc._request.roles import THRESHOLD, request
from frame_prc._request.thresholds import ABOVE
from frame_prc._rows.checks import overlap
from frame_prc._rows.rules import SQUARES, SUMS
from frame_prc.exceptions import OptionError


def merge_counts(engine: Engine, natives: Sequence[Any], *, ascending: bool) -> Any:
    """Return the counts of the whole."""
    frames: list[Frame] = [nw.from_native(native) for native in natives]
    schemas = [pl.Schema(schema_of(frame)) for frame in frames]
    check_frames(schemas)
    names = schemas[0].names()
    if not {*SQUARES}.isdisjoint(names):
        raise OptionError(
            f"sums of squares do not run inside {engine.kind}",
            f"counts without {' and '.join(SQUARES)}",
            "collect the counts, and merge them as Polars frames",
        )
    ends = [name for name in names if name in BOUNDS and name != THRESHOLD]
    keys = [name for name in names if name not in (*ADDABLE, *BOUNDS)]
    check_case(engine, keys, [THRESHOLD, *SUMS, *ends])
    parts = nw.concat([frame.select(names) for frame in frames]).to_native()
    asked = request(
        score=THRESHOLD,
        pos=SUMS[0],
        neg=SUMS[1],
        by=[*keys, *ends] or None,
        missing="unretrieved",
        ascending=ascending,
    )
    counted = count(engine, parts, asked, SUMS, None)
    tidy = counted.frame.with_columns(threshold=counted.score)
    if ends:
        tidy = tidy.with_columns(nw.col(counted.keys[-1]).alias(ends[0]))
        counted = _of_bins(counted, tidy, ends[0])
    outputs = [name for name in names if name not in keys]
    merged = counted.finish(tidy, outputs, [in_ranking_order(counted)])
    return nw.from_native(merged).select(names).to_native()


def _of_bins(counted: Counted, tidy: Frame, end: str) -> Counted:
    """Return counts whose bins are not among their keys, and that fail if bins overlap."""
    low, high = (end, THRESHOLD) if end == ABOVE else (THRESHOLD, end)
    bins = tidy.select(low=nw.col(low), high=nw.col(high)).unique()
    known = bins.filter(~nw.any_horizontal(nw.col("low", "high").is_null(), ignore_nulls=True))
    following = known.with_columns(after=nw.col("low").shift(-1).over(order_by=["low", "high"]))
    values = [nw.col(name).cast(nw.String) for name in ("low", "high", "after")]
    text = nw.concat_str(_alternating(str(overlap("\0", "\0", "\0")).split("\0"), values))
    overlapping = nw.when(nw.col("high") > nw.col("after")).then(text)
    problem = following.with_columns(problem=overlapping).select(nw.col("problem").min())
    dtypes = {n: dtype for n, dtype in counted.columns.key_dtypes.items() if n != end}
    columns = replace(counted.columns, key_dtypes=dtypes)
    return replace(counted, keys=counted.keys[:-1], columns=columns, problem=problem)


def _alternating(texts: Sequence[str], values: Sequence[nw.Expr]) -> list[nw.Expr]:
    """Return texts with values between them."""
    first, *others = map(nw.lit, texts)
    pairs = zip(values, others, strict=True)
    return [first, *(part for pair in pairs for part in pair)]
