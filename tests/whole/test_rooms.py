"""The rooms of the package: imports run downward only, and a file is short enough to be read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources
from pathlib import Path

import frame_prc

# From top to bottom. Rooms of one line stand side by side: they do not import each other.
ROOMS = [
    ["__main__"],
    ["cli"],  # it calls the verbs as any user does
    ["__init__"],
    ["_registration"],
    ["namespace"],
    ["evaluation"],
    ["_report"],
    ["_charts"],
    ["_frames", "_tables"],
    ["_engines"],
    ["_inference", "_ggplot"],
    ["_curves"],
    ["_ranking"],
    ["_rows"],
    ["_request"],
    ["_execution"],
    ["_formulas", "_lazy", "_files"],
    ["exceptions"],
]
FLOORS = {room: -floor for floor, rooms in enumerate(ROOMS) for room in rooms}
MOST_LINES = 600

PACKAGE = Path(str(resources.files(frame_prc)))


def module_name(path: Path) -> str:
    """Return the name of a file's module inside the package: ``_rows.checks``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports, wherever in it that is."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (module for alias in node.names if (module := existing(alias.name)))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by dots"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (module for name in names if (module := existing(name)))


def existing(name: str) -> str | None:
    """Return the module of the package that a full name is in, if it is in one."""
    package, *parts = name.split(".")
    if package != PACKAGE.name:
        return None
    while parts and ".".join(parts) not in FILES:
        parts.pop()
    return ".".join(parts) or "__init__"


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module imports of the package."""
    return {module: set(imported(path)) for module, path in FILES.items()}


def room(module: str) -> str:
    return module.partition(".")[0]


def test_every_module_is_in_a_room_that_has_its_place():
    assert {room(module) for module in FILES} == set(FLOORS)


def test_a_room_imports_only_rooms_below_it():
    leaving = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if room(module) != room(other) and FLOORS[room(other)] >= FLOORS[room(module)]
    ]
    assert leaving == []


def test_no_imports_run_in_a_circle():
    TopologicalSorter(imports()).prepare()  # raises CycleError, which names the modules


def test_inside_a_room_no_module_is_called_private():
    inside = [path for module, path in FILES.items() if "." in module]
    assert [path for path in inside if path.name.startswith("_") and path.stem != "__init__"] == []


def test_no_file_is_too_long_to_be_read():
    lengths = {module: len(path.read_text().splitlines()) for module, path in FILES.items()}
    assert {module: n for module, n in lengths.items() if n > MOST_LINES} == {}
