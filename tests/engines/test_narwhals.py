"""Frames of engines inside Narwhals: results stay in the engine, and inside Narwhals."""

from __future__ import annotations

import engine_kinds
import narwhals as nw
import pytest
from engine_cases import ROWS, every_verb
from polars.testing import assert_frame_equal

import frame_prc

pytestmark = engine_kinds.WARNINGS


@every_verb
def test_frames_inside_narwhals_stay_in_their_engine(kind, verb):
    native = kind.make(ROWS)
    result = verb(nw.from_native(native), "truth", "score", by="segment")
    assert isinstance(result, nw.LazyFrame)
    assert type(result.to_native()) is type(native)
    expected = kind.rows(verb(native, "truth", "score", by="segment"))
    assert_frame_equal(kind.rows(result.to_native()), expected)


def test_other_verbs_are_refused_as_without_narwhals(kind):
    with pytest.raises(frame_prc.FrameError, match=r"does not run inside .*\. Allowed: .*counts"):
        frame_prc.band(nw.from_native(kind.make(ROWS)), "truth", "score")
