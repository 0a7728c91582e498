"""The text in a chart: names, numbers and notes, safe to draw and to put in HTML; round numbers."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from datetime import time
from typing import Any

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import FEW_OF_POSITIVES, FEW_POSITIVES, FEW_SCORES, RANDOM
from frame_prc._lazy import key_names, left_join
from frame_prc._request.specs import MODEL, Target

_LONGEST_LABEL, _LONGEST_OF_MANY, _MANY_KEYS = 40, 60, 3
_BETWEEN = " · "
_LOW = 0.5  # an axis ends earlier if all values lie below it
_MIDNIGHT = time(0)
# In an HTML page these would end the script that holds the chart, or hide its end.
_ENDS_SCRIPT = re.compile(r"<(?=/|!--|script)", re.IGNORECASE)
_NO_BREAK = "\u00a0"  # a space
_JOINER = "\u2060"  # has no width, and allows no break
# SVG cannot hold these characters, and the renderer aborts the process on them.
_NO_XML = {code: chr(0x2400 + code) for code in range(0x20)} | dict.fromkeys(
    (0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}"
)

_CRITERIA = {
    "recall": "recall ≥ {}",
    "precision": "precision ≥ {}",
    "threshold": "threshold {}",
    "f_beta": "largest F{}",
    "predicted_rate": "predicted rate ≤ {}",
    "predicted_count": "predicted ≤ {}",
    "fpr": "false positive rate ≤ {}",
}


def safe(text: str) -> str:
    """Return a text on one line that can be put in an HTML page and in an SVG."""
    legal = " ".join(text.split()).translate(_NO_XML)
    return _ENDS_SCRIPT.sub(f"<{_JOINER}", legal)


def short(text: str, most: int = _LONGEST_LABEL) -> str:
    """Return a text with its middle cut out if it is too long: names often differ at the end."""
    tail = (most - 1) // 3
    head = most - 1 - tail
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) - tail :]}"


def joined(parts: Iterable[str]) -> str:
    return _BETWEEN.join(parts)


def short_name(parts: Sequence[str]) -> str:
    """Return the texts of several keys as one; if it is too long, the longest of them are cut."""
    most = _LONGEST_LABEL if len(parts) < _MANY_KEYS else _LONGEST_OF_MANY
    room = most - len(_BETWEEN) * (len(parts) - 1)
    if sum(map(len, parts)) <= room or room < len(parts):
        return short(joined(parts), most)
    each = next(n for n in range(room, 0, -1) if sum(min(len(one), n) for one in parts) <= room)
    return joined(short(one, each) for one in parts)


def make_unique(texts: Sequence[str]) -> list[str]:
    """Return the texts with a number added to repeated ones: null and "null" are two segments."""
    taken, unique = set(texts), list[str]()
    for text in texts:
        name = text
        if text in unique:
            name = next(name for i in itertools.count(2) if (name := f"{text} ({i})") not in taken)
            taken.add(name)
        unique.append(name)
    return unique


# --- names of segments ---------------------------------------------------------------------------


def column_title(name: str) -> str:
    """Return the title of a column in a tooltip.

    Vega renders tooltip fields called ``title`` and ``image`` specially.
    """
    return f"{safe(name)}:" if name in {"title", "image"} else safe(name) or '""'


# Texts that say little without the name of their key.
_BARE = re.compile(r"yes|no|true|false|[-+.\d]+", re.IGNORECASE)


def key_texts(values: pl.Series, name: str = "") -> list[str]:
    """Return the values of a key as text; with its name if they are numbers, or yes and no."""
    with_name = name and (values.dtype.is_numeric() or values.dtype == pl.Boolean)
    if name not in ("", MODEL) and isinstance(values.dtype, (pl.String, pl.Categorical, pl.Enum)):
        distinct = values.drop_nulls().unique().cast(pl.String).to_list()
        with_name = bool(distinct) and all(map(_BARE.fullmatch, distinct))
    before = f"{safe(name)} " if with_name else ""
    if values.dtype == pl.Datetime and (values.dt.time() == _MIDNIGHT).all():
        values = values.dt.date()  # pandas has no dates
    return [before + _key_text(value) for value in values.to_list()]


def _key_text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return safe(str(value)) or '""'


def with_key_texts(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return a table with its keys ``key_0, ...`` as text; ``names`` are the caller's names."""
    return table.with_columns(
        pl.Series(key, key_texts(table[key], name), pl.String)
        for key, name in zip(key_names(len(names)), names, strict=True)
    )


def number_by(table: pl.DataFrame, keys: Sequence[str], number: str) -> pl.Series:
    """Return the rank of each row by its values of some keys, from 0; equal values share one."""
    if not keys:
        return pl.Series(number, [0] * table.height, dtype=pl.Int64)
    ranked = table.select(keys).unique().sort(keys).with_row_index(number)
    return left_join(table.select(keys), ranked, keys)[number].cast(pl.Int64)


def with_names(
    table: pl.DataFrame, number: str, keys: Sequence[str], name: str, without_keys: str = ""
) -> pl.DataFrame:
    groups = table.unique(number, keep="first").sort(number)
    texts = [short_name(row) for row in groups.select(keys).iter_rows()] if keys else []
    names = pl.Series(name, make_unique(texts or [without_keys]), pl.String)
    return table.with_columns(names.gather(table[number]))


# --- numbers and sentences -----------------------------------------------------------------------


def rate_text(value: float | None) -> str:
    return "" if value is None else f"{value:z.3f}"


def prevalence_text(value: float) -> str:
    return f"{value:.4g}"


def count_text(value: float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    # From a million on, the format g would write an exponent.
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"  # noqa: PLR2004


def ap_text(row: dict[str, Any], *, approximate: bool = False) -> str:
    if row[AVERAGE_PRECISION] is None:
        return status_text(row["status"])
    text = f"AP {'≈ ' if approximate else ''}{rate_text(row[AVERAGE_PRECISION])}"
    if row["status"] == "below_chance":  # which is more than the dashed line, the prevalence
        return f"{text} < chance ({rate_text(row[RANDOM])})"
    if row["ci_low"] is not None:
        text += f" [{rate_text(row['ci_low'])}, {rate_text(row['ci_high'])}]"
    return f"{text}, {status_text(FEW_SCORES)}" if row["status"] == FEW_SCORES else text


def size_text(row: dict[str, Any]) -> str:
    if not row["n_pos"]:
        return ""
    few = " (few)" if row["few"] else ""
    return f"{count_text(row['n_pos'])} of {count_text(row['n'])} positive{few}"


def is_few() -> pl.Expr:
    # Another status may take the place of the one that says so.
    hidden = pl.col("status").is_in(["no_negatives", "below_chance"])
    few = pl.col("status").is_in(FEW_OF_POSITIVES)
    return few | (hidden & (pl.col("n_pos") < FEW_POSITIVES))


def few_of(cluster: str | None, *, weighted: bool = False) -> str:
    """Return of what there are few: fewer than 20."""
    if cluster is not None:
        return f"{FEW_POSITIVES} effective clusters with positives"
    return f"{FEW_POSITIVES} {'effective ' if weighted else ''}positives"


def threshold_text(value: float) -> str:
    return f"{value:#.3g}".rstrip(".") if 1e-4 <= abs(value) < 1e3 else f"{value:.4g}"  # noqa: PLR2004


def status_text(status: str) -> str:
    words = {"empty": "no rows", "no_other": "nothing to compare with"}
    return words.get(status, status.replace("_", " "))


def criterion_text(target: Target) -> str:
    if target.costs is not None:
        return "least cost at {:g} a false alarm, {:g} a miss".format(*target.costs)
    return _CRITERIA[target.criterion].format(f"{target.value:g}")


def percent_text(level: float) -> str:
    return f"{level * 100:.12g} %"


def share_text(share: float) -> str:
    return f"{share * 100:.2g} %"


def rounded_percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def cluster_text(name: str) -> str:
    return f"rows clustered by {short(safe(name))}"


def description(title: str, count: int, of: str, keys: Sequence[str], areas: pl.Series) -> str:
    by = f" by {' and '.join(map(safe, keys))}" if keys else ""
    known = areas.drop_nulls().sort()
    ends = dict.fromkeys((rate_text(known[0]), rate_text(known[-1]))) if len(known) else ()
    found = f", from {' to '.join(ends)}" if ends else ""
    return f"{title}: average precision of {count:,} {of}{'' if count == 1 else 's'}{by}{found}."


def paragraph(sentences: Iterable[str], width: int) -> list[str]:
    text = " ".join(sentences).replace(" %", f"{_NO_BREAK}%")
    count = len(textwrap.wrap(text, width))
    wrapped = (textwrap.wrap(text, narrower) for narrower in range(width // 2, width + 1))
    found = next(lines for lines in wrapped if len(lines) == count)
    return [line.replace(_NO_BREAK, " ") for line in found]


# --- round numbers: steps of sliders, thresholds and axes --------------------------------------


def round_step(step: float, *, up: bool) -> float:
    """Return a power of ten, or twice or five times one, next to a step."""
    if not step > 0:
        return 1.0
    # The logarithm of a step just below a power of ten is rounded to that of the power.
    power = math.floor(math.log10(step))
    choices = [float(f"{digit}e{power + more}") for more in (-1, 0, 1) for digit in (1, 2, 5)]
    return min(c for c in choices if c >= step) if up else max(c for c in choices if c <= step)


def multiple(count: int, step: float) -> float:
    """Return a multiple of a round step without the error of the product."""
    return round(count * step, max(-math.floor(math.log10(step)), 0))


def round_end(value: float) -> float:
    """Return the end of an axis from 0 that has room for a value."""
    power = math.floor(math.log10(value)) if value > 0 else 0
    ends = [float(f"{digits}e{power}") for digits in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)]
    return next(end for end in ends if end >= value)


def end_of(values: pl.Series, below: float = _LOW, room: float = 1.0) -> float:
    most = values.drop_nulls().max()
    return round_end(room * most) if isinstance(most, float) and most < below else 1.0
