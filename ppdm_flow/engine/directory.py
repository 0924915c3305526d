"""A run's directory: hidden and private until it is complete, then moved to its place at once."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from ppdm_flow.engine.faults import output_fault

_PREFIX = ".tmp-"


class RunDirectory:
    """``home`` is the temporary directory beside the final place.

    It is locked (flock) while its process lives; the next run removes those whose lock is free. The parent's lock
    is held while a directory is made or removed, so that no run sees another's before it is locked.
    """

    def __init__(self, parent: Path) -> None:
        self.parent = parent
        with _writing(f"the output folder `{parent}`"):
            parent.mkdir(parents=True, exist_ok=True)
            with _locked(parent):
                _sweep(parent)
                self.home = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
                self.home.mkdir(mode=0o700)
                self._lock = os.open(self.home, os.O_RDONLY)
                fcntl.flock(self._lock, fcntl.LOCK_EX)

    def folder(self, name: str) -> Path:
        """Return a private folder inside."""
        path = self.home / name
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    def write(self, name: str, text: str) -> None:
        """Write a file and flush it to disk."""
        with _writing(f"`{name}`"), (self.home / name).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def remove(self, name: str) -> None:
        """Remove a folder inside. Raises RunError where it stays: what is withheld must not lie about."""
        with _writing(f"`{name}`"):
            shutil.rmtree(self.home / name)

    def rename(self, old: str, new: str) -> None:
        """Rename a folder inside."""
        with _writing(f"`{new}`"):
            (self.home / old).rename(self.home / new)

    def publish(self, started: datetime, plan_digest: str) -> Path:
        """Move the directory to ``<UTC time>-<plan digest>``, by one rename, and return that place."""
        name = f"{started.strftime('%Y%m%dT%H%M%SZ')}-{plan_digest[:12]}"
        with _writing(f"`{name}`"):
            _sync_all(self.home)
            with _locked(self.parent):
                place = self._free(name)
                self.home.rename(place)
            _sync(self.parent)
        self._unlock()
        return place

    def discard(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.home, ignore_errors=True)
        self._unlock()

    def _free(self, name: str) -> Path:
        place = self.parent / name
        number = 2
        while place.exists():
            place = self.parent / f"{name}-{number}"
            number += 1
        return place

    def _unlock(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._lock)


def _sweep(parent: Path) -> None:
    """Remove the directories of runs that died."""
    for path in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _writing(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise output_fault(error, what) from None


def _sync_all(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
