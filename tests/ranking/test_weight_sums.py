"""Running sums of weights: those that plain Python adds up, in any number of parts."""

from __future__ import annotations

from functools import partial

import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from hypothesis import given
from hypothesis import strategies as st
from kinds import SMALL, looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import _execution
from frame_prc._ranking import sorted_rows

# Sixteenths, whose squares add up exactly too.
SIXTEENTHS = st.integers(1, 99).map(lambda n: n / 16)
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 9), SIXTEENTHS), min_size=1
)


SUMS = ["tp", "fp", "tp_squares", "fp_squares"]
TOTALS = ["positives", "negatives", "positives_squares", "negatives_squares"]
ASKED = {"truth": "truth", "score": "score", "by": "key", "weight": "weight"}


def _spied(patch: pytest.MonkeyPatch) -> list[pl.DataFrame | None]:
    """Return the list that all sums which are computed from now on are added to."""
    frames = []
    sums = sorted_rows.weight_sums

    def spy(*ordered, **how):
        frames.append(sums(*ordered, **how))
        return frames[-1]

    patch.setattr("frame_prc._ranking.running_sums.weight_sums", spy)
    return frames


def _expected(
    rows: list[tuple[int, bool, int, float]], *, only_hits: bool
) -> list[tuple[float, ...]]:
    """Return the sums and their squares at each row, and at the opening of each segment.

    After them are the totals of the segment, and the number of its rows.
    """
    found = []
    for segment in sorted({row[0] for row in rows}):
        own = sorted(
            (-score, is_hit, place)
            for place, (key, is_hit, score, _) in enumerate(rows)
            if key == segment
        )
        sums = {end: {True: 0.0, False: 0.0} for end in (1, 2)}
        points = [(0.0,) * 4]
        for _, is_hit, place in own:
            for end, of_class in sums.items():
                of_class[is_hit] += rows[place][3] ** end
            if is_hit or not only_hits:
                points.append((sums[1][True], sums[1][False], sums[2][True], sums[2][False]))
        totals = (sums[1][True], sums[1][False], sums[2][True], sums[2][False])
        found += [(*point, *totals, len(own) + 1) for point in points]
    return found


@given(ROWS, st.sampled_from([1, 3, 100]), st.booleans())
def test_sums_are_those_of_each_class_so_far(rows, part, only_hits):
    schema = ["key", "truth", "score", "weight"]
    frame = pl.DataFrame(rows, schema=schema, orient="row").cast({"score": pl.Float64})
    of_steps = partial(frame_prc.summary, measures="gain")
    verb = frame_prc.average_precision if only_hits else of_steps
    with pytest.MonkeyPatch.context() as patch, looking(looks=True):
        frames = _spied(patch)
        patch.setattr(_execution, "SIZES", SMALL._replace(part=part))
        verb(frame, **ASKED, ci=0.9)
    *_, found = frames
    # The last row is the one after all segments.
    rows_found = found.select(*SUMS, *TOTALS, "n_terms").rows()[:-1]
    assert rows_found == _expected(rows, only_hits=only_hits)


@pytest.mark.parametrize("verb", ["average_precision", "curve"])
def test_short_segments_are_left_to_windows(verb):
    place = pl.int_range(4_000)
    for keys, is_long in ((2, True), (100, False)):
        rows = pl.select(
            key=place % keys, truth=place % 3 == 0, score=place * 7 % 1_000, weight=(1 + place) / 8
        )
        with pytest.MonkeyPatch.context() as patch, looking(looks=True):
            found = _spied(patch)
            patch.setattr(_execution, "SIZES", SMALL._replace(stretch=1_000))
            eager = getattr(frame_prc, verb)(rows, **ASKED)
        lazy = getattr(frame_prc, verb)(rows.lazy(), **ASKED).collect()
        assert_frame_equal(eager, lazy, rel_tol=1e-14)
        assert [sums is not None for sums in found] == [is_long]
