"""Where the files of the checkout are; a copy of the tests may have the examples alone."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CHECKOUT = TESTS.parent
README = CHECKOUT / "README.md"
REFERENCE = CHECKOUT / "examples" / "guide" / "reference.md"
PYPROJECT = CHECKOUT / "pyproject.toml"
EXAMPLES = CHECKOUT / "examples"
FLIGHTS = EXAMPLES / "data" / "flights.parquet"

in_checkout = pytest.mark.skipif(not README.exists(), reason="the tests are not in a checkout")
