"""The runs that there are: found by listing what is there, never by joining what somebody asked for."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from ppdm_flow.api.report import REPORT, read
from ppdm_flow.core.results import HELD
from ppdm_flow.core.texts import INTERNAL
from ppdm_flow.engine.candidates.unpublished import PUBLICATION, RELEASED, is_unpublished
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.page.services.bounded import LARGE, BoundedCalls, LimitExceededError
from ppdm_flow.page.services.runs.folders import names_in
from ppdm_flow.report.run.fields import ReportDocument

T = TypeVar("T")
REPORTS = BoundedCalls(seconds=10, memory=1_024, output=8, places=4, each=2)
"""Reports and results that are read by a process of their own."""


class UnknownRunError(LookupError):
    """There is no run of this name."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as its manifest describes it. ``policy`` and ``name`` are those of its folders.

    ``approved``: it was held, and says that it has been released since; whether its signatures bear that out is a
    question for ``verify``. ``total`` requirements and gates were judged, ``failed`` of them do not hold and are not
    waived, ``waived`` do not hold and are.
    """

    policy: str
    name: str
    folder: Path
    verdict: str
    finished: datetime
    total: int
    failed: int
    waived: int
    approved: bool

    @property
    def key(self) -> str:
        """What it is called on the page and among jobs."""
        return f"{self.policy}/{self.name}"

    @property
    def state(self) -> str:
        """``released``, ``held`` or ``withheld``, as it is by now."""
        return RELEASED if self.approved else self.verdict

    @property
    def is_final(self) -> bool:
        """Whether it stays in its state: what is held may be released."""
        return self.state != HELD

    def files(self) -> Mapping[str, int]:
        """Return the bytes of the files that the manifest lists, by their names in it; lists of runs do without.

        Of more than 20,000 those are left out that lie deepest. Raises UsageError where that takes too much (PPF997).
        """
        return _read_manifest(self.folder, read_files)

    def downloads(self, *, for_maker: bool) -> dict[str, Path]:
        """Return the files that the manifest lists, by their names in it, as far as they are there.

        What was held is listed under ``released/`` and is not there before it is released; what is withheld is none.
        What steps wrote for the owner of the data may hold values of it, and is there ``for_maker`` of the run alone.
        """
        inside = self.folder.resolve()
        left_out = {WITHHELD} if for_maker else {WITHHELD, INTERNAL}
        places = {name: self.folder / name for name in sorted(self.files()) if name.partition("/")[0] not in left_out}
        return {
            name: place for name, place in places.items() if place.is_file() and place.resolve().is_relative_to(inside)
        }


WITHHELD = "withheld"
"""The verdict, and the folder of a candidate that was kept all the same."""


_MOST_FILES = 20_000
_AGAIN = 600.0
"""Seconds until a manifest that took too long is tried again: the machine may have been busy."""


class RunFolder:
    """All runs below a folder, as ``POLICY/TIME-DIGEST``.

    Manifests are read once: nothing changes them. There may be many runs, and each request lists them: of one that is
    in its final state no more is looked at than whether it is there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._known: dict[tuple[str, str], tuple[int, ListedRun | None]] = {}
        self._later: dict[Path, float] = {}
        """Until when manifests that took too long are not tried again."""

    def list(self) -> list[ListedRun]:
        """Return all runs, newest first."""
        names = [(policy, run) for policy in _names(self.folder) for run in _names(f"{self.folder}/{policy}")]
        runs = [run for policy, name in names if (run := self._read(policy, name)) is not None]
        if len(self._known) > len(names):
            there = set(names)
            for gone in [each for each in tuple(self._known) if each not in there]:
                self._known.pop(gone, None)
        return sorted(runs, key=lambda run: (run.finished, run.name), reverse=True)

    def get(self, policy: str, name: str) -> ListedRun:
        """Return one run by the names of its folders. Raises UnknownRunError."""
        is_there = policy in _names(self.folder) and name in _names(f"{self.folder}/{policy}")
        run = self._read(policy, name) if is_there else None
        if run is None:
            raise UnknownRunError(f"{policy}/{name}")
        return run

    def _read(self, policy: str, name: str) -> ListedRun | None:
        """Return the run in a folder that is there; None where it is not that of one that is complete."""
        known = self._known.get((policy, name))
        try:
            written = os.stat(f"{self.folder}/{policy}/{name}/{MANIFEST}").st_mtime_ns  # noqa: PTH116  # a fifth of the time
        except OSError:
            return None
        if known is not None and known[0] == written and (known[1] is None or known[1].is_final):
            return known[1]
        folder = self.folder / policy / name
        if is_unpublished(folder):
            return None
        approved = (folder / PUBLICATION).is_file() and (folder / RELEASED).is_dir()
        if known is None or known[0] != written or known[1] is None or known[1].approved != approved:
            if self._later.get(folder, 0.0) > time.monotonic():
                return None
            try:
                run = _read_manifest(folder, read_run)
            except OSError:
                return None
            except LimitExceededError:
                self._later[folder] = time.monotonic() + _AGAIN
                return None
            run = None if run is None else replace(run, approved=approved and run.verdict == HELD)
            known = self._known[policy, name] = (written, run)
        return known[1]


def _read_manifest(folder: Path, take: Callable[[Path], T]) -> T:
    """Return what a function of a module takes from a manifest, which may list very many files."""
    is_large = (folder / MANIFEST).stat().st_size > LARGE
    return REPORTS.run(take, folder) if is_large else take(folder)


def read_files(folder: Path) -> Mapping[str, int]:
    """Return the bytes of the files that a run's manifest lists; nothing where it does not say so."""
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        names = sorted(files, key=lambda name: (name.count("/"), name))[:_MOST_FILES]
        return {str(name): int(files[name]["bytes"]) for name in names}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def from_report(folder: Path, take: Callable[[ReportDocument], T]) -> T:
    """Return what ``take``, a function of a module, takes from a run's report.

    Raises UsageError where the report cannot be read, or that takes too much (PPF997).
    """
    try:
        is_large = (folder / REPORT).stat().st_size > LARGE
    except OSError:
        is_large = False  # told by who reads it
    return REPORTS.run(_taken, folder, take) if is_large else _taken(folder, take)


def _taken(folder: Path, take: Callable[[ReportDocument], T]) -> T:
    return take(read(folder))


def read_run(folder: Path) -> ListedRun | None:
    """Return a run as its manifest describes it, not approved yet; None where the manifest cannot be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        checks = manifest["checks"]
        finished = datetime.fromisoformat(manifest["finished"])
        run = ListedRun(
            folder.parent.name,
            folder.name,
            folder,
            str(manifest["verdict"]),
            finished,
            int(checks["total"]),
            int(checks["failed"]),
            int(checks.get("waived", 0)),
            approved=False,
        )
        return run if finished.utcoffset() is not None and isinstance(manifest["files"], dict) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _names(parent: str | Path) -> list[str]:
    return [name for name in names_in(parent) if name[0] != "."]
