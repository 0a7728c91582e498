"""What the pages and types that are made from the code share."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import frame_prc
from frame_prc.evaluation.glossary import NAMES

CHECKOUT = Path(__file__).parents[1]
EXAMPLES = CHECKOUT / "examples"
FUNCTIONS = [n for n in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, n))]


def own_parameters(name: str) -> list[inspect.Parameter]:
    """Return the parameters of a function beside the frame and the roles of an evaluation."""
    given = [*inspect.signature(getattr(frame_prc, name)).parameters.values()]
    named = {one.name for one in given}
    shared = {"frame", *NAMES} if {*NAMES} <= named else {"frame"}
    return [one for one in given if one.name not in shared]


def call_of(name: str) -> str:
    """Return a function with its own parameters and their defaults."""
    bare = inspect.Parameter.empty
    return (
        f"{name}{inspect.Signature([one.replace(annotation=bare) for one in own_parameters(name)])}"
    )


def sections(doc: str | None) -> dict[str, str]:
    """Return the sections of a docstring by their titles."""
    parts = re.split(r"^(\w[\w ]*)\n-+\n", inspect.cleandoc(doc or ""), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def first_of(text: str) -> str:
    """Return the first paragraph of a text on one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


def write(texts: Mapping[Path, str]) -> int:
    """Write files; with --check, return 1 if one is not what would be written."""
    if "--check" in sys.argv:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in texts.items()))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0
