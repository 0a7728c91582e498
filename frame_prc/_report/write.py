"""The files of a report: the page, and its numbers beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from frame_prc._files import atomic_write, check_writable, path_of
from frame_prc._report.answers import answers
from frame_prc._report.document import FORMAT, document, evaluated, to_json
from frame_prc._report.evaluation import Evaluation
from frame_prc._request.hints import check_installed
from frame_prc.exceptions import FileError

_PACKAGES = {"altair": "Altair", "jinja2": "Jinja2", "vl_convert": "vl-convert-python"}
_PAGE, _NUMBERS = ".html", ".json"
_FIRST = f'{{"format":"{FORMAT}"'


def report_paths(path: Any) -> list[Path]:
    allowed = f"{_PAGE} for the page and its numbers, {_NUMBERS} for the numbers alone"
    example = "report('report.html', 'truth', 'score')"
    given = path_of(path, (_PAGE, _NUMBERS), allowed, example)
    suffix = given.suffix.lower()
    paths = [given] if suffix == _NUMBERS else [given, given.with_suffix(_NUMBERS)]
    for file in paths:
        check_writable(file)
    if suffix == _PAGE:
        for module, name in _PACKAGES.items():
            check_installed(module, name, "the page of a report")
        _check_not_foreign(paths[1])
    return paths


def _check_not_foreign(numbers: Path) -> None:
    if not numbers.is_file():
        return
    with numbers.open("rb") as file:
        start = file.read(len(_FIRST))
    if start != _FIRST.encode():
        raise FileError(
            f"{os.fspath(numbers)!r} exists and was not written by frame_prc",
            "a new file, or one that frame_prc wrote",
            "choose another name for the page: its numbers have the same name, with .json",
        )


def write(found: Evaluation, paths: list[Path]) -> None:
    *pages, _ = paths
    found.compute()
    facts, told = evaluated(found), answers(found)
    texts = [f"{to_json(document(found, facts, told))}\n"]
    if pages:
        from frame_prc._report.page import page  # noqa: PLC0415 - needs an extra

        texts.insert(0, page(found, facts, told))
    with atomic_write(*paths) as parts:
        for part, text in zip(parts, texts, strict=True):
            part.write_text(text, encoding="utf-8", newline="\n")
