"""What a summary shows: its rows, their names, order and times, and the notes on its marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from frame_prc._charts import text
from frame_prc._charts.data import Segments, with_ends
from frame_prc._charts.options import MOST_COLOURS, MOST_SEGMENTS, Kind, Sort, is_ordered, is_time
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import BELIEVED, FEW, FEW_OF_POSITIVES
from frame_prc._lazy import key_names, left_join
from frame_prc._request.comparisons import check_baseline
from frame_prc._request.specs import Comparison
from frame_prc._rows.rows import DROPPED
from frame_prc.exceptions import OptionError

PAIR = 2
# From this probability on a segment is named the worst.
SURE = 0.9

ALL = "all rows"
UNDEFINED = "\N{MULTIPLICATION SIGN}"  # over time
_MOST_POINTS = 2_000  # over time, of all models: Altair draws up to 5,000 rows in each layer
_MOST_PANELS = 24
_LEAST_TIMES = 2
_WEEK = 7  # days
_ROOM = 0.08
_NO_DIFFERENCE = 0.1  # the ends of an axis without a value


@dataclass(frozen=True)
class Times:
    """The temporal key that average precisions are drawn over; the other keys make panels."""

    key: str
    title: str
    panels: list[str]


@dataclass(frozen=True)
class SummaryData:
    """What a summary shows.

    ``dots`` have a row per model and segment: ``model``, the ``name`` of the segment, its average
    precision with interval, sizes and status; over time also ``time``, ``panel`` and
    ``panel_name``. ``differences`` have one per segment and pair ``model, baseline``, likewise.
    ``names`` are the segments in the order of the rows: first the ``whole``, of all rows together,
    if there is one; from ``first_few`` on they have few positives.
    """

    segments: Segments
    times: Times | None
    models: list[str]
    dots: pl.DataFrame
    differences: pl.DataFrame
    names: list[str]
    by_difference: bool
    whole: str | None
    first_few: str | None

    @property
    def has_differences(self) -> bool:
        rows = self.differences
        return not rows.is_empty() and not rows["difference"].is_null().all()

    @property
    def are_cut(self) -> bool:
        if self.differences.is_empty():
            return False
        low, high = difference_domain(self.differences)
        cut = (pl.col("ci_low") < low) | (pl.col("ci_high") > high)
        return self.differences.filter(cut).height > 0

    @property
    def quantity(self) -> str:
        is_calibrated = REFERENCE in self.dots.columns
        return "Calibrated average precision" if is_calibrated else "Average precision"


def summary_data(
    segments: Segments,
    comparison: Comparison | None,
    baseline: str | None,
    sort: Sort,
    times: Times | None,
) -> SummaryData:
    """Return the rows of a summary, in their order, or raise an error if it cannot be shown."""
    _check_size(segments, over_time=times is not None)
    _check_differences(segments, comparison, baseline, sort)
    dots, whole = dots_of(segments), None
    if times is not None:
        dots = _with_times(dots, segments.table, times)
    elif segments.can_be_pooled and dots["name"].n_unique() > 1:
        whole = text.make_unique([*dots["name"].unique(), ALL])[-1]
        dots = _with_all_rows(dots, segments, whole)
    names = dots["model"].unique(maintain_order=True).to_list()
    models = text.key_texts(pl.Series(segments.models)) if segments.models else names
    differences = pl.DataFrame()
    if comparison is not None:
        differences = _compared(segments, dots, comparison, whole)
    elif baseline is not None or len(models) == PAIR:
        differences = _subtracted(dots, models[0] if baseline is None else baseline)
    if times is not None and not differences.is_empty():
        places = dots.select("name", "time", "panel").unique("name")
        differences = left_join(differences, places, ["name"])
    dots, differences = _without_noise(dots), _without_noise(differences)
    by = _sorted_by(sort, segments, compared=not differences.is_empty())
    names = _order(dots, differences, by)
    few = [] if by == "key" else _few(dots, names)
    enough = [name for name in names if name not in few]
    return SummaryData(
        segments=segments,
        times=times,
        models=models,
        dots=dots,
        differences=differences,
        names=[*enough, *few],
        by_difference=by == "difference",
        whole=whole,
        first_few=few[0] if few and enough[1:] else None,
    )


def _without_noise(rows: pl.DataFrame) -> pl.DataFrame:
    """Return numbers with 12 digits: the last ones depend on the order of threads."""
    return rows.with_columns(pl.selectors.float().round_sig_figs(12))


def ends_and_largest(segments: pl.DataFrame, area: str, count: int) -> list[int]:
    """Return the numbers of the worst and the best segments by an area, and of the largest."""
    ranked = segments.drop_nulls(area).sort(area, "segment")["segment"]
    largest = segments.sort("n_pos", "segment", descending=[True, False])["segment"]
    return sorted({*ranked.head(count), *ranked.tail(count), *largest.head(count)})


def without_interval(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("ci_low").is_null())


def uncertain(rows: pl.DataFrame) -> pl.DataFrame:
    hidden = text.is_few() if AVERAGE_PRECISION in rows.columns else pl.lit(value=False)
    return rows.filter(pl.col("status").is_in(FEW) | pl.col("ci_low").is_null() | hidden)


# --- what cannot be shown -------------------------------------------------------------------------


def _check_size(segments: Segments, *, over_time: bool) -> None:
    models, own = segments.model_keys, segments.own_keys
    hint = "{}, or read all of them in summary()"
    filtered = hint.format("filter the segments")
    if over_time:
        segments.check_count([*models, *own], _MOST_POINTS, "points", filtered)
    else:
        segments.check_count(own, MOST_SEGMENTS, "segments", filtered)
    segments.check_count(models, MOST_COLOURS, "models", hint.format("choose some of the models"))


def _check_differences(
    segments: Segments, comparison: Comparison | None, baseline: str | None, sort: Sort
) -> None:
    values = segments.key_values
    models = values["key_0"].unique().sort().to_list() if segments.model_keys else []
    if comparison is None:
        check_baseline(baseline, models)
    if sort == "difference" and baseline is None and len(models) != PAIR:
        found = f"are {len(models)} models" if len(models) > 1 else "is one model"
        raise OptionError(
            f"sort='difference' is given, and there {found}",
            "two models, or several with baseline=",
        )


# --- average precisions --------------------------------------------------------------------------


def dots_of(segments: Segments) -> pl.DataFrame:
    models, own = segments.model_keys, segments.own_keys
    table = text.with_key_texts(segments.table, segments.keys).with_columns(
        text.number_by(segments.table, own, "segment"),
        pl.Series("status_text", list(map(text.status_text, segments.table["status"])), pl.String),
        model=models[0] if models else pl.lit(""),
    )
    return text.with_names(table, "segment", own, "name", without_keys=ALL)


def _with_all_rows(dots: pl.DataFrame, segments: Segments, name: str) -> pl.DataFrame:
    texts = [pl.lit(name).alias(column) for column in (*segments.own_keys, "name")]
    whole = dots_of(segments.all_rows).with_columns(texts, segment=pl.lit(-1, pl.Int64))
    return pl.concat([whole, dots], how="diagonal_relaxed")


# --- differences ---------------------------------------------------------------------------------


def _subtracted(dots: pl.DataFrame, baseline: str) -> pl.DataFrame:
    [baseline] = text.key_texts(pl.Series([baseline]))
    is_baseline = pl.col("model") == baseline
    reference = dots.filter(is_baseline).select("name", reference=AVERAGE_PRECISION)
    rows = left_join(dots.filter(~is_baseline), reference, ["name"]).select(
        *("name", "model", "status"),
        baseline=pl.lit(baseline),
        difference=pl.col(AVERAGE_PRECISION) - pl.col("reference"),
    )
    return with_ends(rows)


def _compared(
    segments: Segments, dots: pl.DataFrame, comparison: Comparison, whole: str | None
) -> pl.DataFrame:
    table = _named_differences(segments, dots, comparison)
    if whole is not None:
        of_all = segments.compared(comparison, pooled=True).with_columns(name=pl.lit(whole))
        table = pl.concat([of_all, table], how="diagonal_relaxed")
    if "p_adjusted" in table.columns:  # the interval is that which agrees with it
        table = table.with_columns(ci_low="ci_low_adjusted", ci_high="ci_high_adjusted")
    return table.with_columns(
        pl.Series(name, text.key_texts(table[name]), pl.String) for name in ("model", "baseline")
    )


def _named_differences(
    segments: Segments, dots: pl.DataFrame, comparison: Comparison
) -> pl.DataFrame:
    table, own = segments.compared(comparison), segments.own_keys
    if not own:
        return table.with_columns(name=pl.lit(ALL))
    # The keys of a comparison are numbered without that of models.
    keys = key_names(len(own))
    values = segments.table.select(pl.col(a).alias(b) for a, b in zip(own, keys, strict=True))
    own_names = dots.filter(pl.col("segment") >= 0)["name"]
    names = values.with_columns(name=own_names).unique("name", maintain_order=True)
    # The segments of a page may be some of those that are compared.
    return left_join(table, names, keys).drop(keys).drop_nulls("name")


def difference_domain(rows: pl.DataFrame) -> tuple[float, float]:
    """Return the ends for all dots, and for the intervals of segments with enough positives."""
    drawn = rows.drop_nulls("difference")
    enough = drawn.filter(pl.col("status").is_in(BELIEVED))
    known = enough if 2 * enough.height >= drawn.height else drawn
    values = pl.concat([rows["difference"], known["ci_low"], known["ci_high"]])
    ends = [0.0, *values.drop_nulls()]
    low, high = min(ends), max(ends)
    if low == high:
        return -_NO_DIFFERENCE, _NO_DIFFERENCE
    room = _ROOM * (high - low)  # beside a dot, for its interval that goes on
    dots = [0.0, *rows["difference"].drop_nulls()]
    return min(low, min(dots) - room), max(high, max(dots) + room)


# --- order ---------------------------------------------------------------------------------------


def _sorted_by(sort: Sort, segments: Segments, *, compared: bool) -> Sort:
    """Return what rows are sorted by: keys that have an order of their own keep it."""
    if sort is not None:
        return sort
    dtypes = segments.key_values.schema
    if segments.own_keys and all(is_ordered(dtypes[key]) for key in segments.own_keys):
        return "key"
    return "difference" if compared else "value"


def _order(dots: pl.DataFrame, differences: pl.DataFrame, by: Sort) -> list[str]:
    """Return the names of the rows, top down: all rows first, and by value the undefined last."""
    in_key_order = dots.sort("segment", maintain_order=True)["name"]
    if by == "key":
        return in_key_order.unique(maintain_order=True).to_list()
    table, column = (differences, "difference") if by == "difference" else (dots, AVERAGE_PRECISION)
    best = table.group_by("name", maintain_order=True).agg(pl.col(column).max())
    ordered = best.sort(column, descending=True, nulls_last=True, maintain_order=True)
    whole = dots.filter(pl.col("segment") < 0)["name"]
    return list(dict.fromkeys([*whole, *ordered["name"], *in_key_order]))


def _few(dots: pl.DataFrame, names: list[str]) -> list[str]:
    is_few = pl.col("status").is_in(FEW) | pl.col(AVERAGE_PRECISION).is_null()
    few = {*dots.filter(is_few, pl.col("segment") >= 0)["name"]}
    return [name for name in names if name in few]


# --- times ---------------------------------------------------------------------------------------


def find_times(segments: Segments) -> Times | None:
    own, values = segments.own_keys, segments.key_values
    dated = [key for key in own if is_time(values.schema[key])]
    if len(dated) != 1 or values[dated[0]].drop_nulls().n_unique() < _LEAST_TIMES:
        return None
    name = segments.keys[int(dated[0].removeprefix("key_"))]
    title = text.short(text.column_title(name))
    gaps = values[dated[0]].cast(pl.Date).drop_nulls().unique().sort().diff().drop_nulls()
    if (gaps.dt.total_days() % _WEEK == 0).all() and "week" not in name.lower():
        title += ", by week"
    times = Times(dated[0], title, [key for key in own if key != dated[0]])
    return times if segments.count(times.panels) <= _MOST_PANELS else None


def _with_times(dots: pl.DataFrame, table: pl.DataFrame, times: Times) -> pl.DataFrame:
    panels = text.number_by(table, times.panels, "panel")
    numbered = dots.with_columns(milliseconds(table[times.key]).alias("time"), panels)
    return text.with_names(numbered, "panel", times.panels, "panel_name")


def milliseconds(times: pl.Series) -> pl.Series:
    """Return times as a clock on the wall shows them, in milliseconds, as if they were in UTC.

    Drawn in UTC, they are the same in every reader's time zone.
    """
    naive = times.dt.replace_time_zone(None) if times.dtype == pl.Datetime else times
    return naive.cast(pl.Datetime("ms")).cast(pl.Int64)


# --- sentences that explain the marks ------------------------------------------------------------


def notes(data: SummaryData, kind: Kind) -> Iterator[str]:
    if kind == "heatmap":
        yield from _on_cells(data)
        return
    yield from _on_intervals(data)
    yield from _on_chance(data)
    yield from _on_all_rows(data)
    if data.times is None and data.by_difference:
        yield "Sorted by difference."
    yield from _on_worst(data)
    yield from _on_few(data)
    if "p_adjusted" in data.differences.columns:
        yield "Intervals of differences are adjusted, as their p-values are."
    if data.are_cut:
        yield "Wide intervals of differences are cut off at the frame."
    yield from _on_what_is_not_drawn(data)
    yield from _on_rows(data)


def _on_cells(data: SummaryData) -> Iterator[str]:
    if REFERENCE in data.dots.columns:
        yield f"{_at_one_prevalence(data)}."
    yield "Numbers: positives."
    if data.dots["status"].is_in(FEW).any():
        yield "Faint: too few to rely on."
    yield from _on_rows(data)


def _on_intervals(data: SummaryData) -> Iterator[str]:
    cluster = data.segments.cluster
    if data.dots["ci_low"].count():
        assumed = "" if cluster is None else f", {text.cluster_text(cluster)}"
        yield f"{data.quantity} with {text.percent_text(data.segments.level)} intervals{assumed}."
    drawn = [data.dots.drop_nulls(AVERAGE_PRECISION)]
    if not data.differences.is_empty():
        drawn.append(data.differences.drop_nulls("difference"))
    if any(without_interval(rows).height for rows in drawn):
        yield f"Hollow dots without a {'ribbon' if data.times else 'line'} have no interval."


def _on_chance(data: SummaryData) -> Iterator[str]:
    dots, marks = data.dots, "Dashed" if data.times else "Ticks"
    if REFERENCE in dots.columns:
        yield f"{_at_one_prevalence(data)} ({marks.lower()})."
    elif data.segments.given.columns.weighted:
        yield f"{marks}: prevalence, close to the average precision of a random ranking."
    else:
        yield f"{marks}: average precision of a random ranking."
    if "below_chance" in dots["status"]:
        yield "An interval below chance is worse than random: is a lower score better?"


def _on_all_rows(data: SummaryData) -> Iterator[str]:
    if data.whole is None:
        return
    is_whole, area = pl.col("name") == data.whole, pl.col(AVERAGE_PRECISION)
    is_above = area.filter(is_whole).first() > area.filter(~is_whole).max()
    if data.dots.group_by("model").agg(is_above=is_above)["is_above"].fill_null(value=False).all():
        yield (
            "All rows lie above every segment: scores also tell segments with many positives from "
            "those with few."
        )


def _at_one_prevalence(data: SummaryData) -> str:
    known = data.dots[REFERENCE].drop_nulls().head(1)
    shown = "".join(f", {text.prevalence_text(value)}" for value in known)
    return f"Compared at one prevalence for all segments{shown}"


def _on_worst(data: SummaryData) -> Iterator[str]:
    if len(data.models) > 1 or data.times is not None:
        return
    worst = data.segments.likely_worst()
    if worst.height and worst["probability_worst"][0] < SURE:
        share = text.rounded_percent(worst["probability_worst"][0])
        unknown = "Which segment is the worst cannot be told"
        yield f"{unknown}: the likeliest has a probability of {share}."


def _on_few(data: SummaryData) -> Iterator[str]:
    marks, statuses = "Hollow" if data.times else "Hollow (few)", data.dots["status"]
    if statuses.is_in(FEW_OF_POSITIVES).any():
        few = text.few_of(data.segments.cluster, weighted=data.segments.given.columns.weighted)
        yield f"{marks}: fewer than {few}, intervals may cover less than stated."
    if "few_negatives" in statuses:
        yield f"{marks}: too few negatives, so that the value may be too high."


def _on_what_is_not_drawn(data: SummaryData) -> Iterator[str]:
    if data.times is None:
        return
    has_time = pl.col("time").is_not_null()
    undefined = data.dots.filter(pl.col(AVERAGE_PRECISION).is_null(), has_time)
    if undefined.height:
        reasons = ", ".join(undefined["status_text"].unique(maintain_order=True))
        yield f"{UNDEFINED}: no average precision ({reasons})."
    without_time = data.dots.filter(~has_time).unique("name")
    if without_time.height:
        sums = without_time.select(pl.col("n_pos", "n").sum()).row(0)
        positives, size = map(text.count_text, sums)
        yield f"Not drawn: {size} rows ({positives} positive) without a {data.times.title}."


def _on_rows(data: SummaryData) -> Iterator[str]:
    dropped = any(data.dots[name].sum() > 0 for name in DROPPED if name in data.dots.columns)
    if data.segments.models and dropped:  # in long data a row is of one model
        yield "Rows with a missing value are left out for all models."
    if data.segments.error is not None:
        yield f"From thinned curves, off by at most {data.segments.error:.2g}."
