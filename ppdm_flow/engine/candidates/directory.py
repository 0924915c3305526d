"""A run's directory: hidden until it is complete, moved to its place, and published there by one rename."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from ppdm_flow.core.digests import identity, sha256
from ppdm_flow.engine.candidates.unpublished import (
    CANDIDATE,
    HELD,
    LENT,
    PREFIX,
    RELEASED,
    RUN_HOME,
    is_unpublished,
    remove_stale_runs,
)
from ppdm_flow.engine.faults import output_fault, run_fault
from ppdm_flow.engine.written_files import Identity


class RunDirectory:
    """``home`` is where the run is now: a hidden directory, later its place beside that.

    What may be released is called ``candidate`` until :meth:`publish` renames it to ``released``: that is the one
    moment at which a run becomes a release. What has to be approved first :meth:`hold` renames to ``held``. The
    directory is locked (flock) while its process lives; the next run removes those that were not published and whose
    lock is free. The parent's lock is held while a directory is made or removed, so that no run sees another's before
    it is locked.
    """

    def __init__(self, parent: Path) -> None:
        self.parent = parent
        with _writing(f"the output folder `{parent}`"):
            parent.mkdir(parents=True, exist_ok=True)
            with _locked(parent):
                remove_stale_runs(parent)
                lent = _lent_home(parent)
                self.home = lent or parent / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
                self.home.mkdir(mode=0o700, exist_ok=lent is not None)
                self._lock = os.open(self.home, os.O_RDONLY)
                fcntl.flock(self._lock, fcntl.LOCK_EX)

    def folder(self, name: str) -> Path:
        """Return a private folder inside."""
        path = self.home / name
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    def write(self, name: str, text: str) -> None:
        """Write a file and flush it to disk."""
        with _writing(f"`{name}`"):
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
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

    def move(self, started: datetime, plan_digest: str, taken: Callable[[str], bool] = lambda _name: False) -> Path:
        """Move the directory to ``<UTC time>-<plan digest>``, by one rename, and return that place.

        A name that is ``taken`` elsewhere gets a number, as one does that is here already. It is not published
        there as long as it holds a candidate.
        """
        name = f"{started.strftime('%Y%m%dT%H%M%SZ')}-{plan_digest[:12]}"
        with _writing(f"`{name}`"):
            _sync_all(self.home)
            with _locked(self.parent):
                place = self._free(name, taken)
                self.home.rename(place)
                self.home = place
            _sync(self.parent)
        return place

    def write_private(self, name: str, text: str) -> None:
        """Write a file that only its owner may read, and flush it to disk."""
        with _writing(f"`{name}`"):
            handle = os.open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())

    def publish(self) -> None:
        """Make the candidate a release, by one rename."""
        self._become(RELEASED)

    def hold(self) -> None:
        """Make the candidate one that waits for approvals, by one rename: no later run removes it."""
        self._become(HELD)

    def _become(self, folder: str) -> None:
        with _writing(f"`{self.home.name}`"):
            (self.home / CANDIDATE).rename(self.home / folder)
            _sync(self.home)

    def retract(self) -> None:
        """Make the release a candidate again, which the next run would remove too: it went nowhere."""
        with _writing(f"`{self.home.name}`"):
            (self.home / RELEASED).rename(self.home / CANDIDATE)
            _sync(self.home)

    @property
    def published(self) -> bool:
        """Whether the release is out. Only what is on disk decides, even if the renaming call failed."""
        return not is_unpublished(self.home)

    def discard(self) -> None:
        """Remove everything that is not published."""
        if not self.published:
            shutil.rmtree(self.home, ignore_errors=True)
        self._unlock()

    def _free(self, name: str, taken: Callable[[str], bool]) -> Path:
        place = self.parent / name
        number = 2
        while place.exists() or taken(place.name):
            place = self.parent / f"{name}-{number}"
            number += 1
        return place

    def _unlock(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._lock)


def _lent_home(parent: Path) -> Path | None:
    """Return the directory that was made for the run by who confines this process to it."""
    lent = Path(os.environ.get(RUN_HOME, ""))
    return parent / lent.name if lent.name.startswith(LENT) and lent.parent == parent.absolute() else None


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


def check_leaving(folder: Path, audited: Mapping[Path, Identity]) -> None:
    """Hold the candidates' folder against the audited files. Raises RunError for a change, or a file more or less."""
    present = {p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()}
    if present != audited.keys():
        raise run_fault("PPF904", f"{len(present ^ audited.keys())} files beside the releases, or without them")
    for path, before in audited.items():
        if path.is_symlink() or identity(path) != before:
            raise run_fault("PPF903", f"`{path.name}` was written to after it had been read back")


def check_bytes(folder: Path, expected: Mapping[str, str]) -> None:
    """Hash everything below ``folder`` again. Raises RunError unless it is just the files of these hashes, by path."""
    present = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()}
    if present.keys() != expected.keys():
        raise run_fault("PPF904", f"{len(present.keys() ^ expected.keys())} files of the run are too many, or missing")
    for name, path in present.items():
        if path.is_symlink() or not path.is_file() or sha256(path) != expected[name]:
            raise run_fault("PPF903", f"`{path.name}` is not what it was when it was judged")


def check_verdict(report: Path, verdict: str) -> None:
    """Raise RunError where a run's report on disk has another verdict than the one that it is published under."""
    try:
        written = json.loads(report.read_text(encoding="utf-8"))["verdict"]
    except (OSError, ValueError, KeyError, TypeError):
        written = None
    if written != verdict:
        raise run_fault("PPF910", f"`{report.name}` does not say `{verdict}`, which is what was judged")
