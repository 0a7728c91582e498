"""What holds for every test."""

from __future__ import annotations

import pytest

from frame_prc import _ranking


@pytest.fixture(autouse=True, scope="session")
def look_at_values():
    """Narrow the rank key of frames in memory, as is worth it from some thousand rows on.

    Lazy frames show the plan that does not look, on the same rows.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ranking, "_WORTH_A_LOOK", 0)
        yield
