"""Running sums over clusters, and of the weights of rows in memory.

With TP_c and FP_c the rows of cluster c that a threshold retrieves, the variance of the precision
needs the sums over c of TP_c^2, TP_c * FP_c and FP_c^2. A row adds to them what its own cluster has
so far, so rows in ranking order give the sums at every threshold. A cluster with rows in several
segments is a cluster of each.

Weights are looked up, added up and left out part by part, so that a part stays in the processor's
cache, and the memory of one part serves for the next. They are added up in the order of the rows,
as Polars does: the digits are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_prc._execution import on_each_thread
from frame_prc._lazy import cached, left_join
from frame_prc._ranking.narrow_keys import OrderedRows, numbers_in
from frame_prc._ranking.places import long_parts, looked_up
from frame_prc._ranking.rank_key import RankKey
from frame_prc._ranking.segments import key_bounds
from frame_prc._rows.columns import Column

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]


# --- over clusters -----------------------------------------------------------------------------

CLUSTER_SUMS = ("tp_squared", "tp_times_fp", "fp_squared")

_POS, _NEG, _TP, _FP = (pl.col(name) for name in ("pos", "neg", "cluster_tp", "cluster_fp"))


def with_cluster_numbers(frame: pl.LazyFrame, column: Column | None) -> pl.LazyFrame:
    """Replace the clusters by integers, which sort fast."""
    if column is not None and key_bounds(column.dtype) is not None:
        return frame.with_columns(pl.col("cluster").to_physical())
    frame = cached(frame)
    numbers = frame.select("cluster").unique().with_row_index("number")
    joined = left_join(frame, numbers, ["cluster"], in_order=False)
    return joined.drop("cluster").rename({"number": "cluster"})


def with_cluster_sums(
    ranked: pl.LazyFrame, key: RankKey, amounts: Mapping[str, pl.Expr], carried: Sequence[str]
) -> pl.LazyFrame:
    """Replace the cluster of each row by the running sums over all clusters, as integers."""
    own = {name: amount.cast(pl.Int64) for name, amount in amounts.items()}
    # Rows stay in ranking order within a cluster, so its segments follow one another. A window for
    # each cluster takes ten times as long if there are hundreds of thousands.
    by_cluster = (
        ranked.with_columns(**own)
        .with_row_index("place")
        .with_columns(key.segment())
        .sort("cluster", maintain_order=True)
    )
    begins = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in ("cluster", "segment")
    )
    so_far = {name: _within(amount, begins) for name, amount in (("tp", _POS), ("fp", _NEG))}
    added = by_cluster.with_columns(**{f"cluster_{n}": e for n, e in so_far.items()}).select(
        "rank_key",
        *carried,
        "place",
        tp_squared=_POS * (2 * _TP - _POS),
        tp_times_fp=_POS * _FP + _NEG * _TP - _POS * _NEG,
        fp_squared=_NEG * (2 * _FP - _NEG),
    )
    in_order = added.sort("place").drop("place")
    return in_order.with_columns(pl.col(CLUSTER_SUMS).cum_sum())


def _within(amount: pl.Expr, begins: pl.Expr) -> pl.Expr:
    """Return the running sum of an amount since rows at which a group begins."""
    total = amount.cum_sum()
    return total - pl.when(begins).then(total - amount).forward_fill()


# --- of weights --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """The rows of some segments that follow one another, with those that open them.

    ``ends`` are the numbers of the rows that open segments, and of the row after the last. These
    have no weight, and are positive. The memory of ``weights`` is that of the next part too.
    """

    ends: Array
    keys: Array
    weights: Array
    positive: Array


def weight_sums(ordered: OrderedRows, *, only_positive: bool, squares: bool) -> pl.DataFrame | None:
    """Return running sums of the weights of both classes in each segment."""
    parts = long_parts(ordered.opening, len(ordered.keys))
    if parts is None:
        return None

    def of_parts(share: Sequence[pl.Series]) -> list[dict[str, Array]]:
        return [
            _sums(part, only_positive=only_positive, squares=squares)
            for part in _read(ordered, share)
        ]

    found = on_each_thread(parts, of_parts)
    # Made here, not on those threads: making a frame holds Python's lock.
    sums = pl.concat([pl.DataFrame(columns) for share in found for columns in share])
    others = ordered.values.drop("weight")
    if not others.width:
        return sums
    # Rows that open segments get the values of some row.
    row = numbers_in(sums["rank_key"], ordered.key)
    return sums.with_columns(looked_up(column, row) for column in others)


def _read(ordered: OrderedRows, parts: Sequence[pl.Series]) -> Iterator[_Part]:
    """Yield the rows of each part, of which one thread looks at one after the other."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    keys, weights = ordered.keys.to_numpy(), ordered.values["weight"].to_numpy()
    longest = max(part[-1] - part[0] for part in parts)
    all_bits, all_weights = np.empty(longest, np.uint64), np.empty(longest)
    for part in parts:
        first, stop = part[0], part[-1]
        ends, key = (part - first).to_numpy(), keys[first:stop]
        bits, weight = all_bits[: len(key)], all_weights[: len(key)]
        np.bitwise_and(key, np.uint64(ordered.key.class_size - 1), out=bits)
        # With "raise", NumPy would fill a copy first. No number is beyond the weights.
        np.take(weights, bits.view(np.int64), out=weight, mode="clip")
        weight[ends[:-1]] = 0  # the rows that open segments have a number, but no weight
        np.bitwise_and(key, np.uint64(ordered.key.class_size), out=bits)
        yield _Part(ends, key, weight, bits != 0)


def _sums(part: _Part, *, only_positive: bool, squares: bool) -> dict[str, Array]:
    """Return the sums at the rows of a part, or at the positive ones."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    places: Array | slice = slice(None)
    if only_positive:  # they are fewer, and all that adds true positives
        places = np.flatnonzero(part.positive)
        gains, ends_of_gains = part.weights[places], np.searchsorted(places, part.ends)
        part.weights[places] = 0
        losses = part.weights
    else:
        gains, ends_of_gains = part.weights * part.positive, part.ends
        losses = part.weights - gains
    n_rows = np.diff(ends_of_gains)
    sums = {"rank_key": part.keys[places], "n_terms": np.repeat(np.diff(part.ends), n_rows)}
    classes = (
        ("tp", "positives", gains, ends_of_gains, slice(None)),
        ("fp", "negatives", losses, part.ends, places),
    )
    for suffix in ("_squares", "") if squares else ("",):
        for name, total, amounts, ends, wanted in classes:
            running = amounts**2 if suffix else amounts
            for start, stop in pairwise(ends.tolist()):
                np.cumsum(running[start:stop], out=running[start:stop])
            sums[f"{name}{suffix}"] = running[wanted]
            sums[f"{total}{suffix}"] = np.repeat(running[ends[1:] - 1], n_rows)
    return sums
