"""How long a chart of too many segments takes to refuse: run with ``pytest -m benchmark``."""

from __future__ import annotations

import time

import polars as pl
import pytest
from chart_inputs import CHART_INPUTS, chart_input

from frame_prc import DataError

pytestmark = pytest.mark.benchmark


@pytest.fixture(scope="module")
def of_users() -> pl.DataFrame:
    """Return many rows of many more segments than any chart has, so that time can be told."""
    numbers = pl.Series(range(200_000)).shuffle(seed=1)
    return pl.DataFrame({"score": numbers, "user": numbers * 31 % 50_000}).with_columns(
        late=pl.col("score") % 3 == 0, day=pl.col("user") % 7
    )


def shortest(do, times=3):
    """Return the shortest time that something takes: what else runs only makes it longer."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        do()
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
@pytest.mark.parametrize("given", CHART_INPUTS)
def test_too_many_segments_are_refused_before_anything_is_sorted(verb, given, of_users):
    frame, asked = chart_input(given, of_users, "score", ("user", "day"))

    def refuse():
        with pytest.raises(DataError, match=r"50,000 (lines|segments)\."):
            getattr(frame.prc, verb)(**asked)

    # Evaluating the segments takes more than ten sorts.
    assert shortest(refuse) < 4 * shortest(lambda: of_users.sort("user", "score"))
