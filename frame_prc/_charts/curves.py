"""The chart of curves: which lines share a panel, how many points each may have, and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from frame_prc._charts.confusion import confusion
from frame_prc._charts.data import Lines, Segments, has_models, numbers
from frame_prc._charts.options import Drawing
from frame_prc._charts.panels import Legend, Panel, Pen, Place
from frame_prc._charts.roc import false_positive_rate, thin
from frame_prc._charts.text import (
    area_text,
    column_title,
    criterion_text,
    joined,
    key_texts,
    make_unique,
    paragraph,
    safe,
    share,
    short,
    status_text,
)
from frame_prc._charts.theme import MOST_OVERLAID, MOST_SEGMENTS, Piece
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.operating_points import iso_lines
from frame_prc._curves.thinning import THINNED
from frame_prc._formulas import normal_quantile
from frame_prc._lazy import key_names
from frame_prc._request.specs import LEAST_POINTS, Target
from frame_prc.exceptions import DataError, OptionError

if TYPE_CHECKING:
    from altair.typing import ChartType

# Altair draws up to 5,000 rows.
_MOST_ROWS = 4_900
_MOST_LINES = 60
_FEW_LINES = 6
_ISO_STEPS = 50
_RECALLS = 101
_SHARE_OF_BAND = 0.3
_SHARE_OF_ROC = 0.4
_WORTH_SAYING = 0.001
_WORTH_NAMING = 3


def plot(found: Lines, drawing: Drawing) -> ChartType:
    """Return the chart of all curves."""
    _check_readable(found, drawing.facet)
    segments = found.evaluated(drawing.level)
    lines = _lines(segments, drawing.facet)
    rows = _drawn(segments, lines, drawing)
    pen = _pen(segments, lines, drawing)
    panels = [_panel(lines, rows, number) for number in range(lines["panel"].n_unique())]
    cells = _cells(panels, pen, drawing)
    whole = _whole(panels, _notes(lines, rows, drawing), rows, drawing)
    chart: ChartType
    if drawing.threshold is None:
        chart = _grid(cells, drawing, whole)
    else:
        counts = confusion(rows.chosen, drawing.threshold, drawing.look)
        beside = alt.hconcat if lines.height == 1 and not drawing.roc else alt.vconcat
        chart = beside(_grid(cells, drawing, {}), counts, **whole)
    return chart


# --- lines and panels ------------------------------------------------------------------------


def _lines(segments: Segments, facet: Any) -> pl.DataFrame:
    """Return a row per line: its panel, the name it has there, and what is said of it."""
    by = key_names(len(segments.keys))
    panel_keys = _panel_keys(segments.keys, segments.table, facet)
    series_keys = [key for key in by if key not in panel_keys]
    table = segments.table.with_columns(
        pl.Series(key, key_texts(segments.table[key], name))
        for key, name in zip(by, segments.keys, strict=True)
    )
    texts = [
        area_text(row, approximate=segments.error is not None)
        for row in table.iter_rows(named=True)
    ]
    table = table.with_columns(pl.Series("ap", texts, dtype=pl.String))
    table = _with_names(table, segments.table, panel_keys, "panel", "panel_name")
    table = _with_names(table, segments.table, series_keys, "colour", "series")
    if not panel_keys and table.height > 1:
        table = table.with_columns(series=pl.col("series") + " " + pl.col("ap"))
    return table


def _with_names(
    table: pl.DataFrame, values: pl.DataFrame, keys: list[str], number: str, name: str
) -> pl.DataFrame:
    """Return the table with a number and a name of its own per combination of some keys."""
    if not keys:
        return table.with_columns(pl.lit(0).alias(number), pl.lit("").alias(name))
    numbered = table.with_columns(numbers(values, keys, number))
    texts = numbered.unique(number, keep="first").sort(number)
    names = make_unique([short(joined(row)) for row in texts.select(keys).iter_rows()])
    named = pl.Series(name, [names[place] for place in numbered[number]], dtype=pl.String)
    return numbered.with_columns(named)


def _panel_keys(names: list[str], table: pl.DataFrame, facet: Any) -> list[str]:
    """Return the keys that have a panel for each of their values."""
    by = key_names(len(names))
    if facet is False:
        return []
    if facet is not None:
        wanted = [facet] if isinstance(facet, str) else list(facet)
        for name in wanted:
            if name not in names:
                raise OptionError(
                    f"facet= names {name!r}, which is no key",
                    ", ".join(map(repr, names)) or "nothing, for there are no keys",
                )
        return [by[names.index(name)] for name in names if name in wanted]
    others = by[1:] if has_models(names) else by
    if has_models(names):
        return others if others and table.select(others).n_unique() > 1 else []
    if table.height <= _FEW_LINES:
        return []
    last_overlaid = len(by) > 1 and table[by[-1]].n_unique() <= _FEW_LINES
    return by[:-1] if last_overlaid else by


def _check_readable(lines: Lines, facet: Any) -> None:
    """Refuse more lines than one can read, before they are computed."""
    if lines.table.height > _MOST_LINES:
        raise DataError(
            f"the chart would have {lines.table.height:,} lines",
            f"up to {_MOST_LINES} lines",
            f"filter the segments; plot_summary() shows up to {MOST_SEGMENTS}, and summary() all",
            shell_hint="filter the segments; frame-prc summary shows all",
        )
    panel_keys = _panel_keys(lines.keys, lines.table, facet)
    series_keys = [key for key in key_names(len(lines.keys)) if key not in panel_keys]
    overlaid = lines.table.select(series_keys).n_unique() if series_keys else 1
    if overlaid > MOST_OVERLAID:
        raise DataError(
            f"{overlaid} lines would share a panel",
            f"up to {MOST_OVERLAID}, which colours and dashes tell apart",
            "facet= names keys that have a panel for each of their values",
        )


# --- rows to draw ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    """All rows of a chart, each with the panel and the series of its line.

    ``chosen`` are the counts at the threshold asked for, ``unmet`` says which targets are not.
    """

    curve: pl.DataFrame
    roc: pl.DataFrame
    band: pl.DataFrame
    points: pl.DataFrame
    chosen: pl.DataFrame
    unmet: list[str]
    precision_error: float
    roc_error: float


def _drawn(segments: Segments, lines: pl.DataFrame, drawing: Drawing) -> _Drawn:
    points = _points(segments, lines, drawing.all_targets())
    # That of the threshold comes last.
    chosen = points.group_by("line", maintain_order=True).last() if points.height else points
    band = _band(segments, lines, drawing)
    corners = segments.curves("corners")
    sizes = corners.group_by("line").len()["len"].to_list()
    room = _MOST_ROWS - band.height - points.height - 8 * chosen.height - 10 * lines.height
    room -= (_ISO_STEPS + 2) * len(drawing.iso_f1)
    room_of_roc = int(room * _SHARE_OF_ROC) if drawing.roc else 0
    room -= room_of_roc
    most, largest = _most_points(sizes, room), max(sizes, default=0)
    curve = _named(_curve(segments, most, largest, room, drawing), lines)
    roc, roc_error = _roc(corners, _most_points(sizes, room_of_roc) if drawing.roc else 0)
    return _Drawn(
        curve=curve,
        roc=_named(roc, lines),
        band=curve if drawing.wilson else band,
        points=points,
        chosen=chosen,
        unmet=_unmet(points),
        precision_error=_largest(curve[THINNED[0]]) + (segments.error or 0.0),
        roc_error=roc_error,
    )


def _curve(
    segments: Segments, most: int, largest: int, room: int, drawing: Drawing
) -> pl.DataFrame:
    """Return curves of at most so many points a line, or of more where there is room."""
    z = normal_quantile(drawing.level) if drawing.wilson else None
    curve = segments.curves(most, z)
    if most >= largest:
        return curve
    # Thinning spares points where the line hardly moves, which leaves room for more elsewhere.
    wider = segments.curves(max(most * room // max(curve.height, 1), most), z)
    return wider if wider.height <= room else curve


def _largest(errors: pl.Series) -> float:
    largest = errors.max()
    return largest if isinstance(largest, float) else 0.0


def _most_points(sizes: Sequence[int], room: int) -> int:
    """Return how many points a line may have at most, so that all lines find room."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return max(room // left, LEAST_POINTS)
        room, left = room - size, left - 1
    return max([*sizes, LEAST_POINTS])


def _named(rows: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Add panel, series and keys to rows of lines; a threshold may be infinite, so it is text."""
    keys = [name for name in lines.columns if name.startswith("key_")]
    named = lines.select("line", "panel", "series", "ap", *keys)
    joined_rows = rows.join(named, on="line", how="left", maintain_order="left")
    numbered = joined_rows.with_columns(order=pl.int_range(pl.len()).over("line"))
    threshold = [pl.col("threshold").cast(pl.String)] if "threshold" in rows.columns else []
    return numbered.with_columns(threshold)


def _roc(corners: pl.DataFrame, most: int) -> tuple[pl.DataFrame, float]:
    if not most:
        return corners.clear(), 0.0
    return thin(corners.with_columns(fpr=false_positive_rate()).drop_nulls("fpr"), most)


def _band(segments: Segments, lines: pl.DataFrame, drawing: Drawing) -> pl.DataFrame:
    """Return the band on as many recalls as find room."""
    if not drawing.band:
        return pl.DataFrame()
    defined = max(lines[AVERAGE_PRECISION].count(), 1)
    count = min(_RECALLS, int(_MOST_ROWS * _SHARE_OF_BAND) // defined)
    recalls = [place / (count - 1) for place in range(count)]
    rows = segments.bands(recalls, drawing.level).drop_nulls("precision_low")
    return _named(rows, lines)


def _points(segments: Segments, lines: pl.DataFrame, targets: Sequence[Target]) -> pl.DataFrame:
    if not targets:
        return pl.DataFrame()
    points = segments.operating_points(targets)
    # In the order of the targets within each line.
    count = len(points) // len(targets)
    names = [criterion_text(target) for target in targets]
    points = points.with_columns(
        pl.Series("criterion", names * count, dtype=pl.String),
        fpr=false_positive_rate(),
    )
    return _named(points, lines)


def _unmet(points: pl.DataFrame) -> list[str]:
    """Return which operating points have no place in the picture."""
    if points.is_empty():
        return []
    keys = [name for name in points.columns if name.startswith("key_")]
    nowhere = points.filter(pl.any_horizontal(pl.col("precision", "recall").is_null()))
    return [
        f"{joined(row[key] for key in keys)}: {row['criterion']}" if keys else row["criterion"]
        for row in nowhere.iter_rows(named=True)
    ]


# --- the picture -------------------------------------------------------------------------------


def _panel(lines: pl.DataFrame, rows: _Drawn, number: int) -> Panel:
    here = lines.filter(panel=number)
    several = lines["panel"].n_unique() > 1
    names = here["series"].to_list()
    areas = here["ap"].to_list()
    in_legend = not several and here.height > 1
    words = list(zip(names, areas, strict=True))
    return Panel(
        title=here["panel_name"][0],
        lines=[] if in_legend else words,
        curve=_of(rows.curve, number),
        roc=_of(rows.roc, number),
        baselines=_baselines(here),
        band=_of(rows.band, number),
        points=_of(rows.points, number),
        empty=_why_empty(here),
    )


def _of(rows: pl.DataFrame, number: int) -> pl.DataFrame:
    here = rows if rows.is_empty() else rows.filter(panel=number)
    return here.drop("panel", "line", *THINNED, strict=False)


def _baselines(lines: pl.DataFrame) -> pl.DataFrame:
    """Return each prevalence once, with a colour where each line has its own."""
    known = lines.drop_nulls("prevalence")
    rows = known.unique("prevalence", keep="first", maintain_order=True)
    own = rows.height == known.height
    return rows.select("prevalence", series="series" if own else pl.lit(None, pl.String))


def _why_empty(lines: pl.DataFrame) -> str | None:
    if lines[AVERAGE_PRECISION].null_count() < lines.height:
        return None
    return ", ".join(status_text(status) for status in lines["status"].unique(maintain_order=True))


def _pen(segments: Segments, lines: pl.DataFrame, drawing: Drawing) -> Pen:
    series = lines.unique("colour", keep="first").sort("colour")["series"].to_list()
    beside: Legend = "bottom" if drawing.roc else "right"
    titles = map(column_title, segments.keys)
    return Pen(
        series=series,
        legend=beside if lines["panel"].n_unique() == 1 else "top",
        keys=dict(zip(key_names(len(segments.keys)), titles, strict=True)),
        criteria=[criterion_text(target) for target in drawing.all_targets()],
        iso=_iso_lines(drawing.iso_f1),
        look=drawing.look,
    )


def _iso_lines(f_scores: Sequence[float]) -> pl.DataFrame:
    lines = iso_lines(f_scores, _ISO_STEPS)
    words = pl.Series("label", [f"F1 {share(f)}".rstrip("0") for f in lines["f_score"]], pl.String)
    return lines.with_columns(label=pl.when(pl.col("recall") == 1).then(words))


def _cells(panels: Sequence[Panel], pen: Pen, drawing: Drawing) -> list[Piece]:
    """Return the panels row by row, each with its ROC curve where that is asked for."""
    columns, width, height = drawing.look.grid(len(panels), paired=drawing.roc)
    kinds = [pen.precision_recall, *([pen.roc] if drawing.roc else [])]
    total = len(panels) * len(kinds)
    cells: list[Piece] = []
    for panel in panels:
        # What would stand above the only panel stands above the chart.
        titled = panel if len(panels) > 1 else replace(panel, title="", lines=[])
        for draw in kinds:
            number = len(cells)
            left = drawing.roc or number % columns == 0
            place = Place(number, width, height, left=left, bottom=number >= total - columns)
            cells.append(draw(titled, place))
    return cells


def _grid(cells: list[Piece], drawing: Drawing, whole: dict[str, Any]) -> Piece:
    """Return the panels beside and below each other; ``whole`` is said of all of them."""
    if len(cells) == 1:
        return cells[0].properties(**whole) if whole else cells[0]
    scales = alt.ScaleResolveMap(color="shared", strokeDash="shared", fill="shared", shape="shared")
    columns, _, _ = drawing.look.grid(len(cells) // (1 + drawing.roc), paired=drawing.roc)
    return alt.concat(
        *cells, columns=columns, spacing=14, resolve=alt.Resolve(scale=scales), **whole
    )


def _whole(
    panels: Sequence[Panel], notes: list[str], rows: _Drawn, drawing: Drawing
) -> dict[str, Any]:
    """Return what is said and set of the whole chart."""
    look = drawing.look
    legend = len(panels) == 1 and not panels[0].lines and not drawing.roc
    room = look.characters(len(panels), paired=drawing.roc, legend=legend)
    above = [panels[0].title, *map(" ".join, panels[0].lines)] if len(panels) == 1 else []
    errors = {"precision_error": rows.precision_error}
    if drawing.roc:
        errors["roc_error"] = rows.roc_error
    return {
        "title": alt.Title(
            safe(look.title or "Precision and recall"),
            subtitle=[*filter(None, map(str.strip, above)), *paragraph(notes, room)],
            offset=12,
        ),
        "usermeta": {"frame_prc": errors},
        "config": alt.Config(**look.config()),
    }


def _notes(lines: pl.DataFrame, rows: _Drawn, drawing: Drawing) -> list[str]:
    """Return what explains the picture, in sentences."""
    percent = f"{drawing.level * 100:g} %"
    notes = ["Dashed: prevalence, the precision of a random ranking."]
    if "ci_low" in lines.columns:
        notes.append(f"AP: average precision [{percent} interval].")
    if drawing.iso_f1:
        notes.append(f"Curved grid: F1 {', '.join(share(f).rstrip('0') for f in drawing.iso_f1)}.")
    if drawing.wilson:
        notes.append(f"Ribbon: {percent} interval of precision at each threshold (Wilson).")
    if drawing.band:
        notes.append(f"Ribbon: {percent} band of precision at each recall (bootstrap).")
    if rows.precision_error > _WORTH_SAYING:
        notes.append(f"Thinned: steps are off by {rows.precision_error:.2g} at most.")
    if rows.roc_error > _WORTH_SAYING:
        notes.append(f"ROC curves are off by {rows.roc_error:.2g} at most.")
    if rows.unmet:
        more = f" and {len(rows.unmet) - _WORTH_NAMING} more" * (len(rows.unmet) > _WORTH_NAMING)
        notes.append(f"Not reached: {'; '.join(rows.unmet[:_WORTH_NAMING])}{more}.")
    return notes
