"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from frame_prc.exceptions import FileError


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write to, and put what was written there in its place at the end.

    Until then, and for ever if the block raises, whatever lay at ``path`` stays as it was. The
    name to write to keeps the suffix, by which writers choose a format. What is no regular file,
    as a pipe or ``/dev/stdout``, is written to directly.
    """
    target = _target(path)
    if target.exists() and not target.is_file():
        yield target
        return
    part = _part(target)
    try:
        part.touch()
        yield part
        _flush(part)
        part.replace(target)
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"{os.fspath(path)!r} cannot be written: {error.strerror or error}",
            hint="nothing was changed there",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def discard(path: str | os.PathLike[str]) -> None:
    """Remove what was written of a file by a thread that is not waited for."""
    _part(Path(path).resolve()).unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written to, before anything is computed."""
    target = _target(path)
    folder = target.parent
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise FileError(
            f"{os.fspath(path)!r} cannot be written: permission denied",
            hint="a folder where you may write",
        )


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path).resolve()
    if target.is_dir():
        raise FileError(f"{os.fspath(path)!r} is a folder", "the path of a file")
    if not target.parent.is_dir():
        raise FileError(
            f"{os.fspath(path)!r} cannot be written: the folder {os.fspath(target.parent)!r} is "
            "not there",
            "a file in a folder that exists",
            f"mkdir -p {os.fspath(target.parent)}",
        )
    return target


def _part(target: Path) -> Path:
    return target.with_name(f".{target.stem}-{os.getpid()}.part{target.suffix}")


def _flush(part: Path) -> None:
    with part.open("rb") as written:
        os.fsync(written.fileno())
