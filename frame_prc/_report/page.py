"""The page: one HTML file with its style, its scripts and its data, that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import polars as pl
import vl_convert
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from frame_prc._charts import text
from frame_prc._charts.curve_rows import drawn_height, held
from frame_prc._charts.data import LIMITS
from frame_prc._charts.options import MOST_COLOURS, Look
from frame_prc._charts.text import status_text
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import BELIEVED
from frame_prc._files import atomic_write
from frame_prc._lazy import left_join
from frame_prc._report.answers import lowest_segments
from frame_prc._report.document import lines_of, to_json
from frame_prc._report.evaluation import (
    BETTER,
    BUDGETS,
    JUDGED,
    SMALL,
    WORSE,
    Evaluation,
    is_believed,
)
from frame_prc._report.pictures import LOOK, iso_labels, pictures
from frame_prc._report.sentences import NAMED, Answer, isolated, listed, period, said_of

_DIGITS, _DRAWN = 6, 4  # of rates in tables, and in curves
_TITLE = "Precision-recall report"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
# In a page these would end the script, or hide its end; in texts and patterns of a script, a
# backslash before either character changes nothing.
_ENDS_SCRIPT = re.compile(r"<(?=/script|!--)", re.IGNORECASE)


def page(found: Evaluation, facts: dict[str, Any], told: Sequence[Answer]) -> str:
    accent, style = found.options.accent, _resource("page.css")
    if accent is not None:
        style += f":root:root {{ --accent: {accent}; }}\n"
    script, vega = _resource("page.js"), libraries()
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "count": text.count_text,
        "rate": text.rate_text,
        "prevalence": text.prevalence_text,
        "share": lambda share: text.share_text(share).replace(" ", "\u00a0"),
        "percent": lambda level: text.percent_text(level).replace(" ", "\u00a0"),
        "short": lambda name: text.short(text.safe(str(name))),
        "p": _p_text,
        "status": text.status_text,
        "error": lambda value: f"{value:.2g}",
        "unbroken": lambda sentence: sentence.replace(" %", "\u00a0%"),
        "threshold": found.threshold_text,
    }
    template = environment.from_string(_resource("page.html.j2"))
    data = _data(found)
    ticked = _named(found, [number for number in data["chosen"] if number is not None])
    return template.render(
        title=facts["title"] or _TITLE,
        policy=_policy([vega, script], style),
        style=Markup(style),  # noqa: S704 - files of this package
        scripts=[Markup(vega), Markup(script)],  # noqa: S704
        data=htmlsafe_json_dumps(data, dumps=to_json),
        facts=facts,
        found=found,
        sections=found.options.sections,
        answers=told,
        pictures=data["charts"],
        lowest=[] if found.segments.height == 1 else _named(found, lowest_segments(found)),
        ticked=listed([isolated(name) for _, name in ticked]) if ticked else "",
        sizes=_sizes(found),
        heterogeneity=[row for row in found.heterogeneity.to_dicts() if row["n_segments"]],
        budgets=_budgets(found),
        watched=next((answer for answer in told if answer.about == "time"), None),
        in_order=found.in_order,
        most_chosen=MOST_CHOSEN,
    )


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str], style: str) -> str:
    return (
        "default-src 'none'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
        f"script-src {' '.join(map(_hash, scripts))}; style-src {_hash(style)}"
    )


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _p_text(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.2g}"  # noqa: PLR2004


def _named(found: Evaluation, numbers: Sequence[int]) -> list[tuple[int, str]]:
    return [(number, found.names[number]) for number in numbers if number in found.shown]


def _sizes(found: Evaluation) -> list[dict[str, Any]]:
    rows = sorted(found.pooled.to_dicts(), key=lambda row: found.models.index(row["model"]))
    return [row | {"status_text": text.status_text(row["status"])} for row in rows]


def _budgets(found: Evaluation) -> list[tuple[float, list[dict[str, Any] | None]]]:
    points = {(row["target_value"], row["model"]): row for row in found.budgets.to_dicts()}
    known = [(share, [points.get((share, model)) for model in found.models]) for share in BUDGETS]
    return [(share, row) for share, row in known if any(row)]


# --- data ----------------------------------------------------------------------------------------


def _data(found: Evaluation) -> dict[str, Any]:
    return {
        "models": [*found.short_names.values()],
        "names": found.segments["name"].to_list(),
        "ascending": found.asked.ascending,
        "alpha": found.alpha,
        "shown": found.shown,
        "chosen": _chosen(found),
        "mostChosen": MOST_CHOSEN,
        "columns": scorecard(found),
        "curves": _curves(found),
        "all": _all_rows(found),
        "thresholds": _thresholds(found),
        "charts": specifications(found),
        "iso": iso_labels(found),
        "order": found.standings["segment"].to_list(),
        "standings": found.standings.sort("segment")["standing"].to_list(),
        "colours": {
            scheme: dict(zip(found.short_names.values(), look.colours(MOST_COLOURS), strict=False))
            for scheme, look in _LOOKS.items()
        },
        "reliabilityPanels": found.reliability_panels,
        "light": {dark: light for light, dark in _DARK.items()},
    }


def _chosen(found: Evaluation) -> list[int | None]:
    """Return what the page shows first: all rows, and the segments that the answers name."""
    if found.segments.height == 1:
        return [0]
    worse, better = (found.segments_that_are(standing) for standing in (WORSE, BETTER))
    judged = found.standings.filter(pl.col("standing") != SMALL).sort(CALIBRATED)["segment"]
    below = found.below_chance["segment"].unique(maintain_order=True).head(NAMED)
    named = [*below, *worse[:NAMED], *better[::-1][:NAMED]]
    named = named or [*judged.head(1), *judged.tail(1)]
    shown = [number for number in dict.fromkeys(named) if number in found.shown]
    return [None, *shown[:MOST_CHOSEN]]


def _curves(found: Evaluation) -> list[dict[str, Any]]:
    """Return the curves; ``height`` is where they are drawn, as in :func:`frame_prc.plot`."""
    prevalences = {
        (row["model"], row["segment"]): row["prevalence"]
        for row in found.scorecard.filter(pl.col("level") != "macro").to_dicts()
    }
    return [
        {
            "model": found.models.index(model),
            "segment": segment,
            "prevalence": prevalences.get((model, segment)),
            "threshold": points["threshold"].to_list(),
            **_rounded(
                held(points.with_columns(line=pl.lit(0))).with_columns(height=drawn_height()),
                ["recall", "precision", "height"],
                _DRAWN,
            ),
        }
        for (model, segment), points in lines_of(found.curves, found.models)
    ]


def _all_rows(found: Evaluation) -> dict[str, Any]:
    if found.segments.height == 1:
        return {}
    by_segment = found.curves_behind.pivot("panel", index="recall", values="precision")
    return by_segment.to_dict(as_series=False)


def _thresholds(found: Evaluation) -> dict[str, Any]:
    points = found.thresholds
    if points.is_empty():
        return {"grid": [], "texts": [], "start": None, "target": "", "best": None, "lines": []}
    grid = points.select(pl.col("threshold").unique().sort())
    counts = ("tp", "fp", "fn", "tn", "predicted")
    lines = [
        {
            "model": found.models.index(model),
            "segment": segment,
            **own.select(counts).to_dict(as_series=False),
            **_rounded(own, ["precision", "recall", "F1", "predicted_rate", *LIMITS]),
        }
        for (model, segment), own in lines_of(points.sort("threshold"), found.models)
    ]
    return {
        "start": (found.best_point or {}).get("threshold"),
        "target": text.criterion_text(found.options.target),
        "best": found.models.index(found.best),
        "grid": grid["threshold"].to_list(),
        "texts": [found.threshold_text(value) for value in grid["threshold"]],
        "lines": lines,
    }


def _rounded(
    points: pl.DataFrame, columns: Sequence[str], digits: int = _DIGITS
) -> dict[str, list[Any]]:
    return points.select(pl.col(columns).round(digits)).to_dict(as_series=False)


# --- libraries -----------------------------------------------------------------------------------


@cache
def libraries() -> str:
    """Return the script, from a folder for such files if it was made before: it takes seconds."""
    path = _cache_folder() / f"vega-embed-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        if found := path.read_text(encoding="utf-8"):
            return found
    made = _ENDS_SCRIPT.sub(r"<\\", vl_convert.javascript_bundle(_SNIPPET))
    with suppress(OSError):  # it is only slower without
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as (part,):
            part.write_text(made, encoding="utf-8", newline="\n")
    return made


def _cache_folder() -> Path:
    """Return the folder of this user where programs keep what they can make again."""
    name = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    given = os.environ.get(name)
    return (Path(given) if given else Path.home() / ".cache") / "frame_prc"


# --- the table: a row per segment, the models side by side -------------------------------------

# The columns of measures, by their labels, with the ends of their intervals.
_MEASURES = {
    "Calibrated AP": (CALIBRATED, f"{CALIBRATED}_low", f"{CALIBRATED}_high"),
    "AP": (AVERAGE_PRECISION, "ci_low", "ci_high"),
    "Lift": ("lift",),
}

Column = dict[str, Any]


def scorecard(found: Evaluation) -> list[Column]:
    first, *sizes, prevalence = _columns_of_sizes(found)
    calibrated, *others = (
        [_of_model(found, model, label, *columns) for model in found.models]
        for label, columns in _MEASURES.items()
    )
    return [
        first,
        *sizes,
        *calibrated,
        *_against_others(found),
        *_of_difference(found),
        prevalence,
        *(column for columns in others for column in columns),
    ]


def _column(label: str, kind: str, values: pl.Series | list[Any], **more: Any) -> Column:
    return {"label": label, "kind": kind, "values": list(values), **more}


def _columns_of_sizes(found: Evaluation) -> list[Column]:
    own = found.scorecard.filter(level="segment")
    sizes = pl.col("n", "n_pos", "prevalence").max()
    rows = own.group_by("segment").agg(sizes, "model", "status").sort("segment")
    notes = [_note(found, *row) for row in rows.select("segment", "model", "status").iter_rows()]
    return [
        _column(_title(found), "text", found.segments["name"], notes=notes),
        _column("Rows", "count", rows["n"]),
        _column("Positives", "count", rows["n_pos"]),
        _column("Prevalence", "rate", rows["prevalence"]),
    ]


def _note(found: Evaluation, segment: int, models: list[str], statuses: list[str]) -> str:
    below = found.below_chance.filter(segment=segment)["model"]
    told: dict[str, list[str]] = {}
    for model, status in zip(models, statuses, strict=True):
        if status != "ok" and (status != "below_chance" or model in below):
            told.setdefault(status_text(status), []).append(found.short_names[model])
    return "; ".join(
        said if len(names) == len(models) else f"{', '.join(names)}: {said}"
        for said, names in told.items()
    )


def _title(found: Evaluation) -> str:
    """Return the title of the names; those of weeks are their first days."""
    of_keys = period(found) if len(found.keys) == 1 else None
    if of_keys is None or of_keys["unit"] is None:
        return "Segment"
    unit: str = of_keys["unit"].capitalize()
    return unit if unit == "Day" else f"{unit} from"


def _model(found: Evaluation, *models: str) -> dict[str, str]:
    if len(found.models) == 1:
        return {}
    return {"model": " \N{MINUS SIGN} ".join(found.short_names[model] for model in models)}


def _of_model(found: Evaluation, model: str, label: str, name: str, *ends: str) -> Column:
    rows = left_join(found.segments, found.of_segments(model), ["segment"])
    return _column(label, "rate", rows[name], **_model(found, model), **_ends(rows, *ends))


def _ends(rows: pl.DataFrame, *names: str) -> dict[str, list[float | None]]:
    return {end: rows[name].to_list() for end, name in zip(("low", "high"), names, strict=False)}


def _against_others(found: Evaluation) -> Iterator[Column]:
    for model in found.models if found.against_others.height else []:
        rows = left_join(found.segments, found.standings_by_model[model], ["segment"])
        said = list(map(said_of, rows.to_dicts()))
        counts = pl.col("standing").is_in(JUDGED)
        yield _p_column("Against the others", rows, counts, said, _model(found, model))


def _of_difference(found: Evaluation) -> Iterator[Column]:
    if found.differences.is_empty():
        return
    for (a, b), own in found.differences.group_by("model", "baseline", maintain_order=True):
        rows = left_join(found.segments, own, ["segment"])
        of_models, ends = _model(found, a, b), _ends(rows, "ci_low_adjusted", "ci_high_adjusted")
        yield _column("Difference", "rate", rows["difference"], **of_models, **ends)
        said = ["" if one in BELIEVED else text.status_text(one) for one in rows["status"]]
        yield _p_column("p of the difference", rows, is_believed(), said, of_models)


def _p_column(
    label: str, rows: pl.DataFrame, counts: pl.Expr, said: list[str], of_model: dict[str, str]
) -> Column:
    """Return the p-values of the tests that count, and what is said beside them, or instead."""
    p_values = rows.select(pl.when(counts).then("p_adjusted"))["p_adjusted"]
    return _column(label, "p", p_values, said=said, **of_model)


# --- the specifications of pictures, once for each colour scheme -------------------------------

MOST_CHOSEN = 5  # segments, beside all rows

_LOOKS = {"light": LOOK, "dark": Look(dark=True)}
_COLOURS = [
    [look.background, look.text, look.muted, look.faint, *look.colours(MOST_COLOURS)]
    for look in _LOOKS.values()
]
_DARK = dict(zip(*_COLOURS, strict=True))
# What may hold names from the data, one of which may read like a colour.
_NO_COLOURS = frozenset({"data", "domain", "sort", "text", "subtitle", "name"})
Spec = dict[str, Any]


def specifications(found: Evaluation) -> dict[str, dict[str, Spec]]:
    # They differ by their data only from charts that tests validate, which takes its time.
    made = {name: chart.to_dict(validate=False) for name, chart in pictures(found).items()}
    light = {name: _with_plain_names(spec) for name, spec in made.items()}
    return {name: {"light": spec, "dark": _darkened(spec)} for name, spec in light.items()}


def _with_plain_names(spec: Spec) -> Spec:
    """Return a specification with numbered data sets: Altair names them by all of their digits."""
    sets = spec.get("datasets", {})
    names = {name: f"rows {number}" for number, name in enumerate(sets) if name.startswith("data-")}
    renamed = {names.get(name, name): rows for name, rows in sets.items()}
    named: Spec = _replaced(spec, names, {"datasets"})
    return named | {"datasets": renamed} if sets else named


def _darkened(spec: Spec) -> Spec:
    """Return a specification with the colours for a dark background, and without its data."""
    drawn = {key: part for key, part in spec.items() if key != "datasets"}
    dark: Spec = _replaced(drawn, _DARK, _NO_COLOURS)
    return dark


def _replaced(part: Any, words: Mapping[str, str], kept: Collection[str]) -> Any:
    """Return a part of a specification with other words, but not in what is under these keys."""
    if isinstance(part, dict):
        return {k: v if k in kept else _replaced(v, words, kept) for k, v in part.items()}
    if isinstance(part, list):
        return [_replaced(inner, words, kept) for inner in part]
    return words.get(part, part) if isinstance(part, str) else part
