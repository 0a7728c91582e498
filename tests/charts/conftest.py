"""What holds for every chart of these tests."""

from __future__ import annotations

import pytest
from altair.utils.schemapi import debug_mode


@pytest.fixture(autouse=True)
def schema_is_not_checked():
    """Leave out Altair's checks against its schema, which take as long as all else of a chart.

    ``test_looks`` has a valid chart of every kind.
    """
    with debug_mode(False):
        yield
