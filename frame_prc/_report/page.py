"""The page: one HTML file with its style, its scripts and its data, that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
import sys
from bisect import bisect_left
from collections.abc import Sequence
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

from frame_prc._charts.curve_rows import drawn_height
from frame_prc._charts.options import ISO_F1
from frame_prc._charts.text import (
    count_text,
    percent_text,
    prevalence_text,
    rate_text,
    safe,
    short,
    status_text,
    threshold_text,
)
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import BELIEVED
from frame_prc._files import atomic_write
from frame_prc._report.charts import DARK, MOST_CHOSEN, SHAPES, specifications
from frame_prc._report.document import evaluated, lines_of, to_json
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.findings import findings
from frame_prc._report.lines import LIMITS
from frame_prc._report.segment_findings import lowest_segments
from frame_prc._report.sentences import difference_texts, differences_of_models
from frame_prc._report.table import model_names, scorecard

_DIGITS = 6  # of the rates in pictures
_SIGNIFICANT = 4  # digits of a threshold, at least
_SHORT = 8  # characters
_LEAST = 1e-4  # what is smaller has an exponent
_TITLE = "Precision-recall report"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
# In a page these would end the script, or hide its end; in texts and patterns of a script, a
# backslash before either character changes nothing.
_ENDS_SCRIPT = re.compile(r"<(?=/script|!--)", re.IGNORECASE)
_LEADS = {  # what a finding answers
    "models": "Which model",
    "models by segment": "Which model in each segment",
    "spread": "Whether segments differ",
    "segments": "Segments against the others",
    "sizes": "Which are too small",
}


def page(found: Evaluation) -> str:
    """Return the page of a report."""
    style, script, vega = _resource("page.css"), _resource("page.js"), libraries()
    facts = evaluated(found)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "count": count_text,
        "rate": rate_text,
        "prevalence": prevalence_text,
        "percent": lambda level: percent_text(level).replace(" ", "\u00a0"),
        "short": lambda text: short(safe(str(text))),
        "p": _p_text,
        "error": lambda value: f"{value:.2g}",
        "threshold": lambda value: "" if value is None else threshold_text(value),
    }
    template = environment.from_string(_resource("page.html.j2"))
    return template.render(
        title=facts["title"] or _TITLE,
        policy=_policy([vega, script], [style]),
        style=Markup(style),  # noqa: S704 - files of this package
        scripts=[Markup(vega), Markup(script)],  # noqa: S704
        data=htmlsafe_json_dumps(_data(found), dumps=to_json),
        facts=facts,
        findings=[*findings(found)],
        leads=_LEADS,
        lowest=_lowest(found),
        sizes=_sizes(found),
        comparisons=_comparisons(found),
        heterogeneity=_with_names(found),
        most_chosen=MOST_CHOSEN,
        iso_f1=ISO_F1,
    )


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return a content security policy that allows these scripts and styles, and nothing else."""
    allowed = {"script-src": scripts, "style-src": styles}
    hashes = [f"{kind} {' '.join(map(_hash, texts))}" for kind, texts in allowed.items()]
    others = ["default-src 'none'", "img-src data: blob:", "base-uri 'none'", "form-action 'none'"]
    return "; ".join([*others, *hashes])


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _p_text(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.2g}"  # noqa: PLR2004


def _lowest(found: Evaluation) -> list[tuple[int, str]]:
    """Return the number and the name of the segments to look at first, if they have curves."""
    if found.segments.height == 1:
        return []
    lowest = lowest_segments(found, found.best)["segment"]
    return [(number, found.names[number]) for number in lowest if number in found.shown.segments]


def _sizes(found: Evaluation) -> list[dict[str, Any]]:
    """Return the scorecard of all rows, in the order of the models."""
    rows = sorted(found.pooled.to_dicts(), key=lambda row: found.models.index(row["model"]))
    return [row | {"status_text": status_text(row["status"])} for row in rows]


def _comparisons(found: Evaluation) -> list[dict[str, Any]]:
    """Return the comparisons of models over all rows, with numbers as text."""
    return [row | {"texts": difference_texts(row)} for row in differences_of_models(found)]


def _with_names(found: Evaluation) -> list[dict[str, Any]]:
    return [
        row | {end: found.names.get(row[end]) for end in ("best", "worst")}
        for row in found.heterogeneity.to_dicts()
        if row["n_segments"]
    ]


# --- data ----------------------------------------------------------------------------------------


def _data(found: Evaluation) -> dict[str, Any]:
    """Return what the script of the page draws."""
    return {
        "models": model_names(found),
        "names": found.segments["name"].to_list(),
        "hasKeys": found.segments.height > 1,
        "ascending": found.asked.ascending,
        "shown": found.shown.segments,
        "chosen": _chosen(found),
        "mostChosen": MOST_CHOSEN,
        "columns": scorecard(found),
        "curves": _curves(found),
        "thresholds": _thresholds(found),
        "charts": specifications(found),
        "shapes": SHAPES[: len(found.models)],
        "light": {dark: light for light, dark in DARK.items()},
    }


def _chosen(found: Evaluation) -> list[int | None]:
    """Return what the page shows first: all rows, the worst segment, and the best."""
    if found.segments.height == 1:
        return [0]
    own = found.of_segments(found.best)
    own = own.filter(pl.col("segment").is_in(found.shown.segments))
    sure = own.filter(pl.col("status").is_in(BELIEVED))
    ranked = (own if sure.is_empty() else sure).drop_nulls(CALIBRATED).sort(CALIBRATED, "segment")
    ends = dict.fromkeys([*ranked["segment"].head(1), *ranked["segment"].tail(1)])
    return [None, *ends]


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
            **_rounded(_with_height(points), ["recall", "precision", "height"]),
        }
        for (model, segment), points in lines_of(found.curves, found.models)
    ]


def _with_height(points: pl.DataFrame) -> pl.DataFrame:
    return points.with_columns(line=pl.lit(0)).with_columns(height=drawn_height())


def _thresholds(found: Evaluation) -> dict[str, Any]:
    """Return the counts and rates of each line at all thresholds, which ascend.

    A threshold as text has few of the digits that it has in the dtype of the scores.
    """
    points = found.thresholds
    if points.is_empty():
        return {"grid": [], "texts": [], "start": None, "best": None, "lines": []}
    grid = points.select("threshold", "text").unique("threshold").sort("threshold")
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
        "start": found.pooled.filter(model=found.best)["best_f1_threshold"].item(),
        "best": found.models.index(found.best),
        "grid": grid["threshold"].to_list(),
        "texts": threshold_texts(grid["threshold"].to_list(), grid["text"].to_list()),
        "lines": lines,
    }


def _rounded(points: pl.DataFrame, columns: Sequence[str]) -> dict[str, list[Any]]:
    return points.select(pl.col(columns).round(_DIGITS)).to_dict(as_series=False)


def threshold_texts(values: Sequence[float], texts: Sequence[str]) -> list[str]:
    """Return a short text for each threshold, to which it is the nearest of all.

    ``values`` ascend, and ``texts`` have all of their digits.
    """
    return [
        text if len(text) <= _SHORT else _shortened(place, values, text)
        for place, text in enumerate(texts)
    ]


def _shortened(place: int, values: Sequence[float], text: str) -> str:
    value = values[place]
    for digits in range(_SIGNIFICANT, len(text)):
        candidate = _with_digits(value, digits)
        if len(candidate) >= len(text):
            break
        if _nearest(float(candidate), values) == place:
            return candidate
    return text


def _with_digits(value: float, digits: int) -> str:
    """Return a number with some significant digits, and with all of its integer part."""
    if not _LEAST <= abs(value) < 1 / _LEAST**3:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def _nearest(wanted: float, values: Sequence[float]) -> int:
    """Return the place of the nearest value, the first of equals."""
    after = bisect_left(values, wanted)
    places = range(max(0, after - 1), min(after + 1, len(values)))
    return min(places, key=lambda place: abs(values[place] - wanted))


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
