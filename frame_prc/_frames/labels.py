"""Labels of pandas columns that are not text: how a caller names them, and results too."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

from frame_prc._engines.engine import class_of
from frame_prc._frames.pandas_frames import is_pandas

ResultT = TypeVar("ResultT")

# Roles that are no columns.
_VALUES = ("pos_label", "missing", "ascending")


class Labels:
    """The labels of a pandas frame that are not text; elsewhere a column goes by ``str(label)``.

    A Boolean is no label: it is more often an option in the wrong place.
    """

    def __init__(self, frame: Any) -> None:
        labels = [*frame.columns, *frame.index.names] if is_pandas(frame) else []
        no_labels = (str, bool, type(None))
        self._names = {one: str(one) for one in labels if not isinstance(one, no_labels)}
        self._asked: dict[str, Any] = {}

    def name(self, item: Any) -> Any:
        """Return what names columns, such as a list, with the name of each that has a label."""
        if not self._names or isinstance(item, (str, bool)):
            return item
        with suppress(KeyError, TypeError):  # it is no label, or has no hash
            name = self._names[item]
            self._asked[name] = item
            return name
        if isinstance(item, Mapping):
            return {key: self.name(value) for key, value in item.items()}
        if isinstance(item, (list, tuple, class_of("pandas", "Index"))):
            return [self.name(value) for value in item]
        return item

    def in_roles(self, roles: Mapping[str, Any]) -> dict[str, Any]:
        """Return roles with the names of columns."""
        return {role: one if role in _VALUES else self.name(one) for role, one in roles.items()}

    def back(self, result: ResultT) -> ResultT:
        """Give the keys of a result the labels by which they were asked for."""
        if self._asked and is_pandas(result):
            frame: Any = result
            frame.columns = [self._asked.get(name, name) for name in frame.columns]
        return result
