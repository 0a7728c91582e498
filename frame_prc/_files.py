"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from frame_prc.exceptions import FileError

_NUMBERS = count()
_UNFINISHED: set[Path] = set()


@contextmanager
def atomic_write(*paths: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """Yield paths to write to, and put what was written there in its place at the end.

    Until then, and for ever if the block raises, whatever lay at ``paths`` stays as it was. The
    names to write to keep the suffix, by which writers choose a format. What is no regular file,
    as a pipe or ``/dev/stdout``, is written to directly.
    """
    targets = [_target(path) for path in paths]
    parts = {target: _part(target) for target in targets if _is_regular(target)}
    _UNFINISHED.update(parts.values())
    try:
        for part in parts.values():
            part.touch()
        yield [parts.get(target, target) for target in targets]
        for part in parts.values():
            _flush(part)
        for target, part in parts.items():
            part.replace(target)
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"{os.fspath(paths[0])!r} cannot be written: {error.strerror or error}",
            hint="nothing was changed there",
        ) from error
    finally:
        for part in parts.values():
            _discard(part)


def discard_unfinished() -> None:
    """Remove what was begun by threads that are not waited for."""
    for part in list(_UNFINISHED):
        _discard(part)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written to, before anything is computed."""
    try:
        os.fspath(path).encode()
        target = _target(path)
        target.exists()
    except FileError:
        raise
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, before Python 3.13
        raise FileError(
            f"{os.fspath(path)!r} cannot be a file: {getattr(error, 'strerror', None) or error}",
            hint="another name",
        ) from error
    # A regular file is written beside its place, and one of another kind in it.
    needed = [target] if target.exists() else []
    needed += [target.parent] if _is_regular(target) else []
    if not all(os.access(place, os.W_OK) for place in needed):
        raise FileError(
            f"{os.fspath(path)!r} cannot be written: permission denied",
            hint="a folder where you may write",
        )


def _is_regular(target: Path) -> bool:
    return target.is_file() or not target.exists()


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
    """Return a name that no other process, and no other thread, writes to, and not a long one."""
    number = f"{os.getpid()}-{next(_NUMBERS)}"
    return target.with_name(f".frame-prc-{number}.part{target.suffix}")


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _UNFINISHED.discard(part)


def _flush(part: Path) -> None:
    with part.open("rb") as written:
        os.fsync(written.fileno())
