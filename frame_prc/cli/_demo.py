"""The demonstration: bundled flights, from the scorecard to a picture."""

from __future__ import annotations

from typing import Annotated
from pathlib import Path

import typer


def demo(
    folder: Annotated[
        Path, typer.Argument(help="Where to write.", metavar="FOLDER")
    ] = Path("frame-prc-demo"),
) -> None:
    """Show what there is on flights that come with the package: which are late, by carrier."""
