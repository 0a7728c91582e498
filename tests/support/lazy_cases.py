"""What verbs are asked for where laziness and schemas are shown."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest

from frame_prc import Draws

ROWS = pl.DataFrame(
    {
        "region": ["n", "n", "s", "s", None],
        "day": [date(2024, 1, d) for d in (1, 2, 1, 2, 1)],
        "late": [True, False, True, False, True],
        "score": [0.9, 0.4, 0.4, None, 0.1],
        "other": [0.1, 0.2, 0.3, 0.4, 0.5],
        "weight of it": [1.0, 2.0, 0.0, 1.0, 3.0],
        "hits": [1, 0, 2, 0, 1],
        "misses": [0, 1, 1, 0, 0],
        "notes": ["never", "to", "be", "read", "!"],
    }
)
TRUTH = {"truth": "late", "score": "other"}
VERBS = {
    "auc": {"method": ["step", "interpolated", "11-point"]},
    "average_precision": {},
    "band": {"recalls": 3, "bootstrap": Draws(50, seed=1)},
    "counts": {},
    "curve": {},
    "operating_points": {"recall": [0.5, 1.0], "threshold": 0.3, "f_beta": 1},
    "summary": {},
}

every_verb = pytest.mark.parametrize("verb", VERBS)


def ask(frame: Any, verb: str, asked: dict[str, Any]) -> Any:
    return getattr(frame.prc, verb)(**VERBS.get(verb, {}), **asked)
