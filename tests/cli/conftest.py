"""The folder in which every command of these tests runs."""

from __future__ import annotations

import pytest
from command_line import ROWS, WRITERS


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Return a folder with a file of rows of each kind, in which everything runs."""
    monkeypatch.chdir(tmp_path)
    for kind, write in WRITERS.items():
        write(ROWS, tmp_path / f"rows.{kind}")
    return tmp_path
