"""The libraries that draw in the page, Vega, Vega-Lite and Vega-Embed, as one script."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

from frame_prc._files import atomic_write

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
# In a page these would end the script, or hide its end; in texts and patterns of a script, a
# backslash before either character changes nothing.
_ENDS_SCRIPT = re.compile(r"<(?=/script|!--)", re.IGNORECASE)


@cache
def libraries() -> str:
    """Return the script, from a folder for such files if it was made before: it takes seconds."""
    path = _cache_folder() / f"vega-embed-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        if found := path.read_text(encoding="utf-8"):
            return found
    made = _ENDS_SCRIPT.sub(r"<\\", vl_convert.javascript_bundle(_SNIPPET))
    with suppress(OSError):  # it is only slower without
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as (part,):
            part.write_text(made, encoding="utf-8", newline="\n")
    return made


def _cache_folder() -> Path:
    """Return the folder of this user where programs keep what they can make again."""
    name = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    given = os.environ.get(name)
    return (Path(given) if given else Path.home() / ".cache") / "frame_prc"
