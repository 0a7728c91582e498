"""Altair without what takes as long as all else of a chart: for rooms that draw many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from altair.utils.schemapi import _FromDict, debug_mode
from altair.vegalite.v6.schema.core import VegaLiteSchema


@pytest.fixture(autouse=True, scope="session")
def altair_is_quick() -> Iterator[None]:
    """Leave out checks against Altair's schema, and list its 600 classes once, not per channel.

    ``test_looks`` has a valid chart of every kind.
    """
    converter = _FromDict(VegaLiteSchema._default_wrapper_classes())  # noqa: SLF001

    def from_dict(cls: type[VegaLiteSchema], dct: dict[str, Any], validate: bool = True) -> Any:  # noqa: FBT001, FBT002
        if validate:
            cls.validate(dct)
        return converter.from_dict(dct, cls)

    with debug_mode(False), pytest.MonkeyPatch.context() as patch:
        patch.setattr(VegaLiteSchema, "from_dict", classmethod(from_dict))
        yield
