"""Directories of unpublished runs: how they differ from a release, and the removal of dead ones."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CANDIDATE = "candidate"
"""The folder of what may be released, until it is."""
RELEASED = "released"
HELD = "held"
"""The folder of what holds and waits for approvals: no release, and nothing that a later run removes."""
PRIVATE = "held.private.json"
"""What a held run keeps for its release, and nobody else may read."""
PREFIX = ".tmp-"
"""How the name of a run's directory begins before the run is complete."""
LENT = ".job-"
"""The same, where it was made for the run by who removes it, too, if no run comes of it."""
RUN_HOME = "PPDM_RUN_HOME"
"""The variable that names such a directory."""
_MANIFEST = "manifest.json"
_PLACE = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{12}(-\d+)?")
"""The name of a run's directory at its place: nothing else there is ours to remove."""
_HIDDEN = re.compile(rf"{re.escape(PREFIX)}(\d+-[0-9a-f]+|{_PLACE.pattern})")
"""The name of a run's directory before that, or once it is being removed."""


def is_unpublished(folder: Path) -> bool:
    """Whether a run's directory is that of a run that was not published, or not yet."""
    return folder.name.startswith((PREFIX, LENT)) or os.path.lexists(folder / CANDIDATE)


def is_held(folder: Path) -> bool:
    """Whether a run's directory is that of a run which waits for approvals: it is published by none of its folders."""
    there = (folder / HELD).is_dir() and not (folder / HELD).is_symlink()
    return there and not is_unpublished(folder) and not os.path.lexists(folder / RELEASED)


def is_dead(folder: Path) -> bool:
    """Whether the run of an unpublished directory is over: its process held a lock on the directory."""
    with _unlocked(folder) as free:
        return free


def unpublished_runs(parent: Path) -> Iterator[Path]:
    """Yield the directories of runs in ``parent`` that are not published: those of dead runs, and of live ones."""
    for path in parent.iterdir():
        if not path.is_symlink() and path.is_dir() and _is_ours(path) and is_unpublished(path):
            yield path


def remove_stale_runs(parent: Path) -> None:
    """Remove what dead runs left in ``parent`` unpublished. To be called with the lock of ``parent`` held.

    Of a run that may be in a ledger the manifest and an empty candidate's folder stay: they tell
    ``ppdm-flow ledger --repair`` that it never was published.
    """
    for path in parent.iterdir():
        if _PLACE.fullmatch(path.name):
            drop_private(path)
    for path in unpublished_runs(parent):
        with _unlocked(path) as free:
            if free and may_be_in_ledger(path):
                _empty(path)
            elif free:
                remove(path)


def drop_private(path: Path) -> None:
    """Remove a held run's private files where an interrupted release left them beside the published ones."""
    if (path / RELEASED).is_dir() and not os.path.lexists(path / HELD):
        with contextlib.suppress(OSError):
            (path / PRIVATE).unlink(missing_ok=True)


def clear_stale_runs(parent: Path, *, wait: bool = True) -> None:
    """Remove what dead runs left in ``parent``, with its lock held; where that cannot be, it stays.

    Without ``wait`` it stays as well where another process holds the lock: that one removes it.
    """
    with contextlib.suppress(OSError):
        handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_stale_runs(parent)
        finally:
            os.close(handle)


def remove(path: Path) -> None:
    """Remove an unpublished directory; it stays hidden if that is interrupted."""
    hidden = path
    with contextlib.suppress(OSError):
        if not path.name.startswith(PREFIX):
            hidden = path.rename(path.with_name(f"{PREFIX}{path.name}"))
    shutil.rmtree(hidden, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    if _HIDDEN.fullmatch(path.name):
        return True
    return _PLACE.fullmatch(path.name) is not None and (path / _MANIFEST).is_file()


def may_be_in_ledger(path: Path) -> bool:
    """Whether an unpublished run may have been written into a ledger: it has its place, and its manifest says so."""
    if path.name.startswith(PREFIX):
        return False  # it is written down once it has its place
    try:
        return "ledger" in json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
    except PermissionError:
        return True
    except (OSError, ValueError, TypeError):
        return False


def _empty(path: Path) -> None:
    for each in path.iterdir():
        if each.name == CANDIDATE and not each.is_symlink():
            for inside in each.iterdir():
                _drop(inside)
        elif each.name not in (CANDIDATE, _MANIFEST):
            _drop(each)


def _drop(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


@contextmanager
def _unlocked(folder: Path) -> Iterator[bool]:
    handle = -1
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        if handle >= 0:
            os.close(handle)


PUBLICATION = "publication.json"
"""Who approved a held run, and when it was released."""
UNFINISHED = f".{PUBLICATION}.new"
"""The same while it is written."""


def place_of(run_dir: Path, name: str) -> Path:
    """Return where a file of a manifest is: what is called ``released/`` there lies in ``held/`` until it is out."""
    if name.startswith(f"{RELEASED}/") and is_held(run_dir):
        return run_dir / HELD / name.removeprefix(f"{RELEASED}/")
    return run_dir / name
