"""The notebook: it shows what its code prints, and has its pictures in it."""

from __future__ import annotations

import optional
import pytest
from checkout import EXAMPLES

pytestmark = pytest.mark.thorough

TOUR = EXAMPLES / "tour.ipynb"


def shown(notebook) -> list[tuple[str, ...]]:
    """Return the text that each cell shows, and the kinds of what it shows."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [("".join(o.data["text/plain"]), *sorted(o.data)) for o in outputs]


# The kernel speaks over sockets of its own, which it closes late.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_notebook_shows_what_its_code_prints():
    nbclient = optional.require_module("nbclient")
    nbformat = optional.require_module("nbformat")
    optional.require_module("ipykernel")
    notebook = nbformat.read(TOUR, as_version=4)
    stored = shown(notebook)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": EXAMPLES}}).execute()
    assert shown(notebook) == stored
    assert sum("image/png" in kinds for _, *kinds in stored) == 2
