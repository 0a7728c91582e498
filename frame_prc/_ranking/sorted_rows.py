"""Keys of rows in memory: narrow ones of 64 bits, how keys are sorted, and sums of their weights.

Narrow keys leave out low bits of the scores; rows whose scores then share a slot are looked at
again. NumPy mostly sorts 64-bit integers in half the time of Polars.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from timeit import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_prc import _execution
from frame_prc._execution import has_numpy, on_each_thread, together
from frame_prc._formulas import unsigned_zero
from frame_prc._lazy import beside, remembered
from frame_prc._ranking.keys import RankKey, Scale, Segments
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
    if found.width > 1 or keys.is_empty() or keys.has_nulls():
        return found.sort("rank_key", maintain_order=True)
    return sorted_numbers(keys).to_frame()


def sorted_numbers(keys: pl.Series) -> pl.Series:
    is_fast = keys.dtype in (pl.UInt64, pl.Float64) and len(keys) > _TRIED and numpy_is_faster()
    return sorted_by_numpy(keys) if is_fast else keys.rechunk().sort()


def sorted_by_numpy(keys: pl.Series) -> pl.Series:
    # In place: the system takes longer to hand out new memory than NumPy to sort what is there.
    values = keys.to_numpy(writable=True)
    values.sort()
    return pl.Series(keys.name, values)


@lru_cache(maxsize=1)
def numpy_is_faster() -> bool:
    """Return whether NumPy sorts faster than Polars on this machine, by a trial.

    Flags do not tell: on Zen 4 its AVX-512 sort takes six times as long as that with AVX2
    (github.com/numpy/x86-simd-sort/issues/6).
    """
    if not has_numpy():
        return False
    keys = pl.int_range(_TRIED, dtype=pl.UInt64, eager=True).hash()
    sorts = (partial(sorted_by_numpy, keys), keys.sort)
    # The least time of three, as other programs may delay one.
    by_numpy, by_polars = (min(repeat(sort, number=1, repeat=3)) for sort in sorts)
    return by_numpy < by_polars


# --- narrow ---------------------------------------------------------------------------------------


# Scores repeat if fewer than this share of a sample of so many are distinct.
_SAMPLE, _MOSTLY = 1_000, 0.9
_FEW_SHARED = 1 / 20
_MOST_MOVES = 4


@dataclass(frozen=True)
class OrderedRows:
    """Sorted keys, and other columns in the order of the row numbers that keys hold."""

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
        if not self.values.width:
            return self.keys.to_frame()
        row = self.key.rows_in(self.keys)
        # The extra rows have the number of the first row, but nothing of it.
        found = (looked_up(column, row).scatter(self.opening, 0) for column in self.values)
        return pl.DataFrame([self.keys, *found])


def rank_key(key: RankKey, rows: Rows, *, numbered: bool = False) -> pl.Expr:
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
    return any(
        sample.n_unique() < _MOSTLY * len(sample) for sample in sampled_scores(rows, _SAMPLE)
    )


def sampled_scores(rows: Rows, size: int) -> list[pl.Series]:
    if rows.values is None:
        return []
    step = max(rows.values.height // size, 1)
    columns = (rows.values[f"score_{i}"] for i in range(len(rows.columns.scores)))
    return [column.gather_every(step) for column in columns]


def sorted_as_they_are(frame: pl.LazyFrame, segments: Segments, key: RankKey) -> OrderedRows | None:
    keys = sorted_keys(pl.concat([frame, *extra_rows(segments, key)]))["rank_key"]
    # Only rows that the checks refuse have no key.
    return None if keys.has_nulls() else OrderedRows(key, keys, pl.DataFrame(), segments)


# --- keys with the number of the row -------------------------------------------------------


def sorted_with_rows(
    segments: Segments, key: RankKey, rows: Rows, carried: list[str]
) -> OrderedRows | None:
    """Return sorted keys that hold the number of the row, with the columns carried."""
    narrow = _with_room_for_rows(key, segments, rows)
    if narrow is None:
        return None
    used = rows.used()
    # Numbered first, as a join may move rows.
    frame = used if "row" in used.collect_schema() else used.with_row_index("row")
    numbered = segments.numbered(frame).select(rank_key(narrow, rows, numbered=True))
    keys = numbered.collect().to_series()
    values = used.select("score", *carried).collect(engine="in-memory")
    # Only rows that the checks refuse have no key.
    if keys.is_empty() or keys.has_nulls():
        return None
    extra = pl.concat(extra_rows(segments, narrow)).collect().to_series()
    ordered = _told_apart(
        sorted_numbers(pl.concat([keys, extra])), values["score"], narrow, key.scale
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

    Lower scores move on to the next slots, and then those there, unless moved past others.
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
            ordered = sorted_numbers(ordered)
    return None


def _shared_with_next(ordered: pl.Series, key: RankKey) -> pl.Series:
    """Return the places of sorted keys that share their slot with the next key."""
    # No frame that holds the keys outlives this: they could not be changed without a copy.
    return ordered.to_frame().lazy().select((~key.ends_tie()).arg_true()).collect().to_series()


def _shared_by_different(ordered: pl.Series, scores: pl.Series, key: RankKey) -> pl.Series:
    """Return the places that share their slot with the next, where it has different scores."""
    shared = _shared_with_next(ordered, key)
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
    """The rows of consecutive segments; the memory of ``weights`` is used again."""

    ends: Array
    keys: Array
    weights: Array
    positive: Array


def weight_sums(ordered: OrderedRows, *, only_positive: bool, squares: bool) -> pl.DataFrame | None:
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


# --- values by place, or summed by stretches ---------------------------------------------------

# --- by place -------------------------------------------------------------------------------------


def gathered(rows: pl.LazyFrame, place: str, table: pl.LazyFrame, *, at_once: bool) -> pl.LazyFrame:
    """Add to rows the columns of the row of a table whose number is in their column ``place``."""
    if not at_once:
        names, is_row = table.collect_schema().names(), pl.lit(value=True).alias("\0is_row")
        # Of rows that the checks refuse a place may be beyond the table.
        found = pl.col(names).gather(place, null_on_oob=True)
        both = beside([rows.with_columns(is_row), table]).with_columns(found)
        # A table with more rows made the others longer.
        return both.filter(pl.col("\0is_row").is_not_null()).drop("\0is_row")
    # The other engine would cut the table into chunks.
    of_rows, values = rows.collect(), table.collect(engine="in-memory")
    return of_rows.hstack([looked_up(column, of_rows[place]) for column in values]).lazy()


def looked_up(values: pl.Series, places: pl.Series) -> pl.Series:
    """Return the value at each place; that at null is null."""
    values = values.rechunk()  # otherwise each is looked for in all chunks
    if not (has_numpy() and _is_plain(values) and not places.null_count()):
        return _looked_up_by_polars(values, places)
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    source = values.to_numpy()
    found = np.empty(len(places), source.dtype)

    def look_up(part: slice) -> None:
        # With "raise", NumPy would fill a copy first. No place is beyond the values.
        np.take(source, places[part].to_numpy().astype(np.intp), out=found[part], mode="clip")

    # Most of the time goes by in waiting for memory, so all threads take a part.
    size = _execution.SIZES.part
    parts = (slice(start, start + size) for start in range(0, len(places), size))
    together([partial(look_up, part) for part in parts])
    return pl.Series(values.name, found, dtype=values.dtype)


def put(values: pl.Series, places: pl.Series) -> pl.Series:
    """Return values of which each is at its place, the inverse of :func:`looked_up`."""
    if not (has_numpy() and _is_plain(values)):
        return (values * 0).scatter(places, values)
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    source = values.to_numpy()
    found = np.zeros(len(source), source.dtype)
    found[places.to_numpy()] = source
    return pl.Series(values.name, found, dtype=values.dtype)


def _looked_up_by_polars(values: pl.Series, places: pl.Series) -> pl.Series:
    if places.is_empty():
        return values.clear()
    size = -(-len(places) // pl.thread_pool_size())
    parts = places.to_frame().iter_slices(size)
    calls = [partial(values.gather, part.to_series()) for part in parts]
    return pl.concat(together(calls), rechunk=True)


def _is_plain(values: pl.Series) -> bool:
    """Return whether NumPy has the same values as Polars."""
    dtype = values.dtype
    is_plain = dtype.is_float() or (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128))
    return is_plain and not values.null_count()


# --- by stretches of sorted rows ------------------------------------------------------------------


# With more groups in all stretches per row, Polars groups as fast.
_MOST_GROUPS = 8


def long_parts(begins: pl.Series, end: int) -> list[pl.Series] | None:
    """Return where the stretches of each part begin, and where the last of them ends."""
    if len(begins) * _execution.SIZES.stretch > end:
        return None
    wanted = pl.int_range(0, end, _execution.SIZES.part, eager=True)
    first = begins.search_sorted(wanted).unique().sort()
    places = begins.clone().append(pl.Series([end], dtype=begins.dtype))
    numbers = [*first.filter(first < len(begins)), len(begins)]
    return [places[start : stop + 1] for start, stop in pairwise(numbers)]


def group_totals(
    rows: pl.DataFrame, size: int, totals: Mapping[str, pl.Expr]
) -> pl.DataFrame | None:
    """Return aggregates of the sums over the rows of each group, for each stretch, if it pays.

    A ``group`` is a number below ``size``; one without rows in a stretch has a sum of 0, which may
    not change an aggregate.
    """
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    if rows.is_empty() or any(column.null_count() for column in rows):
        return None
    stretch, group, *amounts = (column.to_numpy() for column in rows.rechunk())
    places = [0, *(np.flatnonzero(np.diff(stretch)) + 1).tolist(), len(stretch)]
    n_rows, n_stretches = len(stretch), len(places) - 1
    if n_stretches * max(_execution.SIZES.group, size // _MOST_GROUPS) > n_rows or size > n_rows:
        return None

    def of_stretch(start: int, stop: int) -> pl.DataFrame:
        own = group[start:stop]
        sums = (np.bincount(own, amount[start:stop], size) for amount in amounts)
        frame = pl.DataFrame(dict(zip(rows.columns[2:], sums, strict=True)))
        number = pl.lit(stretch[start], dtype=rows.schema["stretch"])
        return frame.select(number.alias("stretch"), **totals)

    return pl.concat(together([partial(of_stretch, *ends) for ends in pairwise(places)]))
