"""Keys of rows in memory: narrow ones of 64 bits, how keys are sorted, and sums of their weights.

Narrow keys leave out low bits of the scores to have room. Two scores of a segment may then come
together: their rows share a slot. The few that do are looked at again, with all bits of their
scores.

On most processors NumPy sorts 64-bit integers on one core in half the time that Polars takes on
two. So, where other columns stand beside the keys, their order is found by a sort of integers too:
of the first bits of each key, with the number of its row in the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from timeit import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_prc._execution import has_numpy, on_each_thread
from frame_prc._formulas import unsigned_zero
from frame_prc._lazy import join, remembered
from frame_prc._ranking.places import long_parts, looked_up
from frame_prc._ranking.rank_key import RankKey, Scale
from frame_prc._ranking.segments import Segments
from frame_prc._rows.rows import Rows, is_positive

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

# --- sorted ---------------------------------------------------------------------------------------


_KEY = pl.col("rank_key")
_TRIED = 2**16  # how many keys are sorted to see what is faster; of fewer keys the sort takes 1 ms


def sorted_keys(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return rows in ascending order of their column ``rank_key``; equal keys stay in order."""
    found = rows.collect()
    keys = found["rank_key"]
    # Only rows that the checks refuse have no key.
    if keys.is_empty() or keys.has_nulls():
        return found.sort("rank_key")
    return _with_others(found.rechunk()) if found.width > 1 else sorted_integers(keys).to_frame()


def sorted_integers(keys: pl.Series) -> pl.Series:
    """Return integers in ascending order."""
    is_fast = keys.dtype == pl.UInt64 and len(keys) > _TRIED and numpy_is_faster()
    return sorted_by_numpy(keys) if is_fast else keys.rechunk().sort()


def sorted_by_numpy(keys: pl.Series) -> pl.Series:
    # In place: the system takes longer to hand out new memory than NumPy to sort what is there.
    values = keys.to_numpy(writable=True)
    values.sort()
    return pl.Series(keys.name, values)


@lru_cache(maxsize=1)
def numpy_is_faster() -> bool:
    """Return whether NumPy sorts in less time than Polars on this machine, by a trial.

    Neither the number of threads nor the processor's flags tell: on AMD's Zen 4, NumPy's sort with
    AVX-512 takes six times as long as that with AVX2 (github.com/numpy/x86-simd-sort/issues/6).
    """
    if not has_numpy():
        return False
    keys = pl.int_range(_TRIED, dtype=pl.UInt64, eager=True).hash()
    sorts = (partial(sorted_by_numpy, keys), keys.sort)
    # The least time of three, as other programs may delay one.
    by_numpy, by_polars = (min(repeat(sort, number=1, repeat=3)) for sort in sorts)
    return by_numpy < by_polars


def _with_others(found: pl.DataFrame) -> pl.DataFrame:
    """Return rows in ascending order of their keys; rows with equal keys stay in order."""
    keys = found["rank_key"]
    row_bits = len(keys).bit_length()
    # The class is the last bit of a key: it stays, as it orders the rows of a score.
    highest: Any = keys.max()
    dropped = max(highest.bit_length() + row_bits + 1 - 64, 1)
    first_bits = (_KEY // pl.lit(1 << dropped, keys.dtype)).cast(pl.UInt64)
    narrow = 2 * first_bits + (_KEY & pl.lit(1, keys.dtype)).cast(pl.UInt64)
    numbered = narrow * (1 << row_bits) + pl.int_range(pl.len(), dtype=pl.UInt64)
    packed = keys.to_frame().lazy().select(numbered.alias("rank_key")).collect().to_series()
    order = sorted_integers(packed).to_frame()
    row = (_KEY & pl.lit((1 << row_bits) - 1, pl.UInt64)).cast(pl.get_index_type())
    rows = order.lazy().select(row).collect().to_series()
    # Rows that share their first bits are in the order of their numbers, not of their keys.
    shares_next = (_KEY ^ _KEY.shift(-1)) < (2 << row_bits)
    with_next = order.select(shares_next).to_series()
    place = (with_next | with_next.shift(1)).fill_null(value=False).arg_true()
    of_shared = rows.gather(place)
    shared = pl.DataFrame([looked_up(keys, of_shared), of_shared.alias("row")])
    if shared.select((_KEY.shift(-1) < _KEY).any()).item():
        in_order = shared.with_row_index("place").sort("rank_key", "place")
        rows = rows.scatter(place, in_order["row"])
    return pl.DataFrame([looked_up(column, rows) for column in found])


# --- narrow ---------------------------------------------------------------------------------------


# Scores repeat if fewer than this share of a sample of so many are distinct.
_SAMPLE, _MOSTLY = 1_000, 0.9
# If more rows share a slot, looking at them again takes longer than wider keys.
_FEW_TIES = 100_000
_FEW_SHARED = 1 / 20
_MOST_MOVES = 4


@dataclass(frozen=True)
class OrderedRows:
    """Rows in ranking order: their sorted keys, and their other columns, if they have any.

    ``values`` are these columns in the order of the numbers that the keys hold, and so are the
    ``scores``, where keys hold only their first bits.
    """

    key: RankKey
    keys: pl.Series
    values: pl.DataFrame
    segments: Segments
    scores: pl.Series | None = None

    @cached_property
    def opening(self) -> pl.Series:
        """The places of the rows that open the segments, and of the row after all segments."""
        extra = pl.concat(extra_rows(self.segments, self.key)).collect().to_series()
        return self.keys.search_sorted(extra)

    def frame(self) -> pl.DataFrame:
        """Return the rows with all columns."""
        if not self.values.width:
            return self.keys.to_frame()
        row = self.key.rows_in(self.keys)
        # The extra rows have the number of the first row, but nothing of it.
        found = (looked_up(column, row).scatter(self.opening, 0) for column in self.values)
        return pl.DataFrame([self.keys, *found])


def rank_key(key: RankKey, rows: Rows, *, numbered: bool = False) -> pl.Expr:
    """Return the rank key of a row from its ``segment``, ``score`` and class, and its ``row``."""
    return _packed(key, has_counts=rows.has_counts, numbered=numbered)


@remembered
def _packed(key: RankKey, *, has_counts: bool, numbered: bool) -> pl.Expr:
    positive = is_positive(has_counts=has_counts)
    rank_key = key.pack(pl.col("segment"), key.scale.slot(pl.col("score")), positive)
    return rank_key + pl.col("row").cast(key.dtype) if numbered else rank_key


def extra_rows(segments: Segments, key: RankKey) -> list[pl.LazyFrame]:
    """Return the keys of the rows that open the segments, and of the row after all segments."""
    return [segments.table.select(key.opening()), key.ending()]


def repeats_scores(rows: Rows) -> bool:
    """Return whether scores seem to repeat, from a sample of rows in memory."""
    return any(
        sample.n_unique() < _MOSTLY * len(sample) for sample in sampled_scores(rows, _SAMPLE)
    )


def sampled_scores(rows: Rows, size: int) -> list[pl.Series]:
    """Return about so many scores of each model, of rows in memory."""
    if rows.values is None:
        return []
    step = max(rows.values.height // size, 1)
    columns = (rows.values[f"score_{i}"] for i in range(len(rows.columns.scores)))
    return [column.gather_every(step) for column in columns]


# --- keys alone ----------------------------------------------------------------------------


def sorted_alone(
    frame: pl.LazyFrame, segments: Segments, key: RankKey, rows: Rows
) -> OrderedRows | None:
    """Return sorted keys of rows with a ``segment`` and a ``score``."""
    narrow = key.narrower()
    if narrow is None or repeats_scores(rows):
        return None
    keys = frame.select(rank_key(narrow, rows))
    ordered = sorted_keys(pl.concat([keys, *extra_rows(segments, narrow)]))["rank_key"]
    found = OrderedRows(narrow, ordered, pl.DataFrame(), segments)
    shared = shared_with_next(ordered, narrow)
    if shared.is_empty():
        return found
    if len(shared) > _FEW_TIES:
        return None
    ties = ordered.gather(shared).to_frame().select(narrow.tie()).unique()
    tied = frame.select(rank_key(narrow, rows), "score").with_columns(narrow.tie())
    tied = join(tied, ties.lazy(), on="rank_key", how="semi")
    scores = tied.group_by("rank_key").agg(low=pl.col("score").min(), high=pl.col("score").max())
    mixed = scores.select((pl.col("low") != pl.col("high")).any())
    return None if mixed.collect().item() else found


# --- keys with the number of the row -------------------------------------------------------


def sorted_with_rows(
    frame: pl.LazyFrame,
    segments: Segments,
    key: RankKey,
    rows: Rows,
    carried: list[str],
) -> OrderedRows | None:
    """Return sorted keys that hold the number of the row, with the columns carried."""
    narrow = _with_room_for_rows(key, segments, rows)
    if narrow is None:
        return None
    # A row number takes less time than a range of integers.
    has_number = "row" in rows.frame.collect_schema()
    numbered = frame if has_number else frame.with_row_index("row")
    names = ["score", *carried]
    # What is looked up is in the order of the numbers: that of the rows, or of those that moved.
    beside = names if segments.may_move_rows and not has_number else []
    found = numbered.select(rank_key(narrow, rows, numbered=True), *beside).collect()
    keys, values = found["rank_key"], found.select(beside)
    if not beside:
        values = rows.used().select(names).collect(engine="in-memory")
    # Only rows that the checks refuse have no key.
    if keys.is_empty() or keys.has_nulls():
        return None
    extra = pl.concat(extra_rows(segments, narrow)).collect().to_series()
    ordered = _told_apart(
        sorted_integers(pl.concat([keys, extra])), values["score"], narrow, key.scale
    )
    if ordered is None:
        return None
    scores = None if narrow.scale == key.scale else _with_one_zero(values["score"], key.scale)
    return OrderedRows(narrow, ordered, values.select(carried).rechunk(), segments, scores)


def _with_one_zero(scores: pl.Series, scale: Scale) -> pl.Series:
    """Return scores in one chunk, in which -0.0 is 0.0."""
    may_have_zeros = scores.dtype.is_float() and scale.lowest <= 0
    one = scores.to_frame().select(unsigned_zero(pl.col("score"), scores.dtype)).to_series()
    return (one if may_have_zeros else scores).rechunk()


def _with_room_for_rows(key: RankKey, segments: Segments, rows: Rows) -> RankKey | None:
    """Return a key of 64 bits that holds the number of a row, if there are bits for scores."""
    most = (0 if rows.values is None else rows.values.height) * len(rows.columns.scores)
    numbered = replace(key, row_bits=most.bit_length())
    room = 64 - numbered.bits + numbered.scale.bits
    # Of fewer bits, too many scores of a segment would share a slot.
    fewest = most.bit_length() - segments.count.bit_length()
    return numbered.narrower() if room > fewest else None


def _told_apart(
    ordered: pl.Series, scores: pl.Series, key: RankKey, exact: Scale
) -> pl.Series | None:
    """Return sorted keys of which only rows with equal scores share a slot, if few do at all.

    Where different scores share one, the lower ones move on to the next slots, and then those that
    are there, unless some are moved past others.
    """
    if key.scale == exact:
        return ordered
    for _ in range(_MOST_MOVES):
        shared = _shared_by_different(ordered, scores, key)
        if shared.is_empty():
            return ordered
        if len(shared) > _FEW_SHARED * len(ordered):
            return None
        place = pl.concat([shared, shared + 1]).unique().sort()
        moved = _moved_on(ordered.gather(place), scores, key, exact)
        if moved.has_nulls():
            return None
        ordered = ordered.scatter(place, moved)
        if not ordered.is_sorted():
            ties = ordered.to_frame().lazy().select(key.tie()).collect().to_series()
            if not ties.is_sorted():
                return None
            ordered = sorted_integers(ordered)
    return None


def shared_with_next(ordered: pl.Series, key: RankKey) -> pl.Series:
    """Return the places of sorted keys that share their slot with the next key."""
    # No frame that holds the keys outlives this: they could not be changed without a copy.
    return ordered.to_frame().lazy().select((~key.ends_tie()).arg_true()).collect().to_series()


def _shared_by_different(ordered: pl.Series, scores: pl.Series, key: RankKey) -> pl.Series:
    """Return the places that share their slot with the next, where it has different scores."""
    shared = shared_with_next(ordered, key)
    keys = ordered.gather(shared)
    score, other = (
        looked_up(scores, key.rows_in(each)) for each in (keys, ordered.gather(shared + 1))
    )
    differs = score.ne_missing(other)
    if not differs.any():
        return shared.clear()
    ties = keys.to_frame().select(key.tie()).to_series()
    return shared.filter(ties.is_in(ties.filter(differs).unique().implode()))


def _moved_on(keys: pl.Series, scores: pl.Series, key: RankKey, exact: Scale) -> pl.Series:
    """Return keys of shared slots with a slot for each score, in order; null where none is left."""
    score = scores.gather(key.rows_in(keys)).alias("score")
    rows = pl.DataFrame([keys, score]).with_columns(
        key.tie().alias("tie"), key.slot().cast(pl.Int64), exact=exact.slot(pl.col("score"))
    )
    level = pl.col("exact").rank("dense").over("tie").cast(pl.Int64) - 1
    ordered = rows.with_columns(level=level).sort("tie", "exact", "rank_key")
    # The last slot is for rows without a score.
    has_room = (pl.col("level") == 0) | (pl.col("slot") + pl.col("level") < key.scale.last)
    return ordered.select(pl.when(has_room).then(key.later(pl.col("level")))).to_series()


# --- running sums of weights ---------------------------------------------------------------------

# Weights are looked up, added up and left out part by part, in the order of the rows: a part stays
# in the processor's cache, and the memory of one serves for the next. The order is that in which
# Polars adds them up: the digits are the same.


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
    row = ordered.key.rows_in(sums["rank_key"])
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
