"""Altair without its checks: for rooms that draw many charts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from altair.utils.schemapi import debug_mode


@pytest.fixture(autouse=True, scope="session")
def altair_is_quick() -> Iterator[None]:
    """Leave out checks against Altair's schema, which take as long as all else of a chart.

    ``test_looks`` has a valid chart of every kind.
    """
    with debug_mode(False):
        yield
