"""The pictures of a report, as specifications that the page draws, once for each colour scheme.

The data of the curves are in the page: what is chosen there decides which are drawn. A colour is
that of a model in all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from frame_prc._charts.theme import MOST_COLOURS, AnyChart
from frame_prc._report import answer_charts, section_charts
from frame_prc._report.encodings import DARK_LOOK, LOOK
from frame_prc._report.evaluation import Evaluation

MOST_CHOSEN = 5  # segments, beside all rows

DARK = dict(
    zip(
        *(
            [look.background, look.text, look.muted, look.faint, *look.colours(MOST_COLOURS)]
            for look in (LOOK, DARK_LOOK)
        ),
        strict=True,
    )
)
# What may hold names from the data, one of which may read like a colour.
_NO_COLOURS = frozenset({"data", "domain", "sort", "text", "subtitle", "name"})
_TITLES = {  # of what tooltips show
    "average_precision": "average precision",
    "ci_low": "interval from",
    "ci_high": "interval to",
    "random_average_precision": "chance level",
    "n": "rows",
    "n_pos": "positives",
    "p_value": "p, not adjusted",
}

Spec = dict[str, Any]


def specifications(found: Evaluation) -> dict[str, dict[str, Spec]]:
    """Return the specification of each picture, by its name and the colour scheme.

    Those on a dark background have no data sets: they are the same.
    """
    charts = _made(found)
    # They differ by their data only from charts that tests validate, which takes its time.
    light = {
        name: _changed(chart.to_dict(validate=False), _with_dates) for name, chart in charts.items()
    }
    if "areas" in light:
        own = {"average_precision": "calibrated average precision"} if found.keys else {}
        light["areas"] = _changed(light["areas"], partial(_with_titles, _TITLES | own))
    light = {name: _with_plain_names(spec) for name, spec in light.items()}
    return {name: {"light": spec, "dark": _darkened(spec)} for name, spec in light.items()}


def _with_plain_names(spec: Spec) -> Spec:
    """Return a specification with numbered data sets: Altair names them by all of their digits."""
    sets = spec.get("datasets", {})
    names = {name: f"rows {number}" for number, name in enumerate(sets) if name.startswith("data-")}
    renamed = {names.get(name, name): rows for name, rows in sets.items()}
    named: Spec = _changed(spec, lambda part: _named(part, names))
    return named | {"datasets": renamed} if sets else named


def _named(part: Spec, names: dict[str, str]) -> Spec:
    """Return a part of a specification with the new name of the data set that it is of."""
    name = part.get("name")
    return part | {"name": names[name]} if isinstance(name, str) and name in names else part


def _changed(spec: Any, change: Callable[[Spec], Spec]) -> Any:
    """Return a specification, each part of which is changed, but not its data."""
    if isinstance(spec, list):
        return [_changed(inner, change) for inner in spec]
    if not isinstance(spec, dict):
        return spec
    return change({k: v if k == "datasets" else _changed(v, change) for k, v in spec.items()})


def _with_dates(part: Spec) -> Spec:
    """Return a scale of times whose domain begins and ends with dates.

    From numbers Vega-Lite makes ``datetime(number)``. Vega's interpreter, which a page without
    ``eval`` needs, takes that number for a year.
    """
    is_scale = part.get("type") == "utc" and "domain" in part
    return part | {"domain": list(map(_date, part["domain"]))} if is_scale else part


def _date(milliseconds: int) -> dict[str, Any]:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)
    return {
        "year": moment.year,
        "month": moment.month,
        "date": moment.day,
        "hours": moment.hour,
        "minutes": moment.minute,
        "seconds": moment.second,
        "milliseconds": moment.microsecond // 1000,
        "utc": True,
    }


def _with_titles(titles: dict[str, str], part: Spec) -> Spec:
    """Return an encoding whose tooltips say in words what they show."""
    tips = [
        tip | {"title": titles.get(tip["field"], tip["title"])} for tip in part.get("tooltip", [])
    ]
    return part | {"tooltip": tips} if tips else part


def _darkened(spec: Any) -> Any:
    """Return a specification with the colours for a dark background, and without its data."""
    if isinstance(spec, dict):
        kept = {key: value for key, value in spec.items() if key != "datasets"}
        return {key: v if key in _NO_COLOURS else _darkened(v) for key, v in kept.items()}
    if isinstance(spec, list):
        return list(map(_darkened, spec))
    return DARK.get(spec, spec) if isinstance(spec, str) else spec


_PICTURES: dict[str, Callable[[Evaluation], AnyChart | None]] = {
    "good": answer_charts.good,
    "pooled": answer_charts.pooled,
    "models": answer_charts.models,
    "strip": answer_charts.strip,
}


def _made(found: Evaluation) -> dict[str, AnyChart]:
    """Return the pictures that there are, by their names."""
    of_sections = {
        name: picture
        for section in found.options.sections
        for name, picture in section_charts.OF_SECTIONS[section].items()
    }
    made = {name: picture(found) for name, picture in (_PICTURES | of_sections).items()}
    return {name: chart for name, chart in made.items() if chart is not None}
