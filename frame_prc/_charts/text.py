"""The words of a chart: keys of any dtype, numbers, and notes, as text that is safe to draw."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._request.specs import Target

_LONGEST_LABEL = 40
# In a page of HTML these would end, or hide the end of, the script that holds the chart.
_ENDS_SCRIPT = re.compile(r"<(?=/|!--|script)", re.IGNORECASE)
_JOINER = "\u2060"  # has no width, and allows no break
# No SVG holds these, and what draws one would end the whole process: their pictures do instead.
_NO_XML = {code: chr(0x2400 + code) for code in range(0x20)} | dict.fromkeys(
    (0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}"
)

_CRITERIA = {
    "recall": "recall ≥ {}",
    "precision": "precision ≥ {}",
    "threshold": "threshold {}",
    "f_beta": "largest F{}",
    "predicted_rate": "predicted rate ≤ {}",
}


def safe(text: str) -> str:
    """Return a text on one line, that a page of HTML can hold, and an SVG."""
    legal = " ".join(text.split()).translate(_NO_XML)
    return _ENDS_SCRIPT.sub(f"<{_JOINER}", legal)


def key_texts(keys: pl.Series, name: str = "") -> list[str]:
    """Return what a chart calls the values of a key; numbers say little without its name."""
    says_little = name and (keys.dtype.is_numeric() or keys.dtype == pl.Boolean)
    before = f"{safe(name)} " if says_little else ""
    return [before + _key_text(value) for value in keys.to_list()]


def _key_text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return safe(str(value)) or '""'


def column_title(name: str) -> str:
    """Return what a tooltip calls a column; it draws a heading and a picture of two names."""
    return f"{safe(name)}:" if name in {"title", "image"} else safe(name) or '""'


def joined(parts: Iterable[str]) -> str:
    """Return the texts of several keys as one."""
    return " · ".join(parts)


def short(text: str, most: int = _LONGEST_LABEL) -> str:
    """Return a text that is too long without its middle: names often differ at their end."""
    tail = (most - 1) // 3
    head = most - 1 - tail
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) - tail :]}"


def make_unique(texts: Sequence[str]) -> list[str]:
    """Return texts of which no two are alike: null and "null" are two segments."""
    seen: dict[str, int] = {}
    taken = set(texts)
    out = []
    for text in texts:
        seen[text] = seen.get(text, 0) + 1
        name = text
        while seen[text] > 1 and name in taken:
            name = f"{text} ({seen[text]})"
            seen[text] += name in taken
        taken.add(name)
        out.append(name)
    return out


def share(value: float | None) -> str:
    """Return a number from 0 to 1 with three decimals, without its leading zero."""
    return "" if value is None else f"{value:.3f}".removeprefix("0")


def amount(value: float | None) -> str:
    """Return a count of rows, or a sum of weights."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    # From a million on the shorter form would have an exponent.
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"  # noqa: PLR2004


def area_text(row: dict[str, Any], *, approximate: bool = False) -> str:
    """Return the average precision of a segment with its interval, or why it has none."""
    if row[AVERAGE_PRECISION] is None:
        return status_text(row["status"])
    text = f"AP {'≈ ' if approximate else ''}{share(row[AVERAGE_PRECISION])}"
    if row.get("ci_low") is not None:
        text += f" [{share(row['ci_low'])}, {share(row['ci_high'])}]"
    said = row["status"] in ("no_negatives", "below_chance")
    return f"{text}, {status_text(row['status'])}" if said else text


def status_text(status: str) -> str:
    """Return a status in words."""
    return "no rows" if status == "empty" else status.replace("_", " ")


def criterion_text(target: Target) -> str:
    """Return what is asked of an operating point."""
    return _CRITERIA[target.criterion].format(f"{target.value:g}")


def paragraph(sentences: Iterable[str], width: int) -> list[str]:
    """Return sentences as lines."""
    return textwrap.wrap(" ".join(sentences), width)
