"""The runs that there are: found by listing what is there, never by joining what somebody asked for."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from ppdm_flow.api.report import REPORT, read
from ppdm_flow.core.records import dataclass
from ppdm_flow.core.results import HELD
from ppdm_flow.core.texts.file_names import INTERNAL
from ppdm_flow.engine.candidates.run_files import PUBLICATION
from ppdm_flow.engine.candidates.unpublished import RELEASED, is_unpublished
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.page.services.bounded import LARGE, Bounded
from ppdm_flow.report.run.fields import ReportDocument

T = TypeVar("T")
REPORTS = Bounded(seconds=10, memory=1_024, output=8, places=4, each=2)
"""Reports and results that are read by a process of their own."""


class UnknownRunError(LookupError):
    """There is no run of this name."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as its manifest tells of it. ``policy`` and ``name`` are those of its folders.

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
    files: Mapping[str, int]

    @property
    def key(self) -> str:
        """What it is called on the page and among jobs."""
        return f"{self.policy}/{self.name}"

    @property
    def state(self) -> str:
        """``released``, ``held`` or ``withheld``, as it is by now."""
        return RELEASED if self.approved else self.verdict

    def downloads(self, *, for_maker: bool) -> dict[str, Path]:
        """Return the files that the manifest lists, by their names in it, as far as they are there.

        What was held is listed under ``released/`` and is not there before it is released; what is withheld is none.
        What steps wrote for the owner of the data may hold values of it, and is there ``for_maker`` of the run alone.
        """
        inside = self.folder.resolve()
        left_out = {WITHHELD} if for_maker else {WITHHELD, INTERNAL}
        places = {name: self.folder / name for name in sorted(self.files) if name.partition("/")[0] not in left_out}
        return {
            name: place for name, place in places.items() if place.is_file() and place.resolve().is_relative_to(inside)
        }


WITHHELD = "withheld"
"""The verdict, and the folder of a candidate that was kept all the same."""


class Runs:
    """All runs below a folder, as ``POLICY/TIME-DIGEST``. Manifests are read once: nothing changes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._known: dict[Path, tuple[tuple[int, int], ListedRun]] = {}
        self._lock = threading.Lock()

    def list(self) -> list[ListedRun]:
        """Return all runs, newest first."""
        with self._lock:
            runs = {run.folder: run for folder in self._folders() if (run := self._read(folder)) is not None}
            for gone in set(self._known) - set(runs):
                del self._known[gone]
        return sorted(runs.values(), key=lambda run: (run.finished, run.name), reverse=True)

    def get(self, policy: str, name: str) -> ListedRun:
        """Return one run by the names of its folders. Raises UnknownRunError."""
        with self._lock:
            folder = next((each for each in self._folders() if (each.parent.name, each.name) == (policy, name)), None)
            run = None if folder is None else self._read(folder)
        if run is None:
            raise UnknownRunError(f"{policy}/{name}")
        return run

    def _folders(self) -> Iterator[Path]:
        for policy in _folders(self.folder):
            yield from _folders(policy)

    def _read(self, folder: Path) -> ListedRun | None:
        """Return a run; None where the folder is not that of one that is complete."""
        if is_unpublished(folder):
            return None
        approved = (folder / PUBLICATION).is_file() and (folder / RELEASED).is_dir()
        try:
            stat = (folder / MANIFEST).stat()
            stamp = (stat.st_mtime_ns, int(approved))
            known = self._known.get(folder)
            if known is None or known[0] != stamp:
                document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
                known = self._known[folder] = (stamp, _run(folder, document, approved=approved))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return known[1]


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


def _run(folder: Path, manifest: Mapping[str, Any], *, approved: bool) -> ListedRun:
    checks = manifest["checks"]
    verdict = str(manifest["verdict"])
    finished = datetime.fromisoformat(manifest["finished"])
    if finished.utcoffset() is None:
        raise ValueError("a time without a zone")
    return ListedRun(
        folder.parent.name,
        folder.name,
        folder,
        verdict,
        finished,
        int(checks["total"]),
        int(checks["failed"]),
        int(checks.get("waived", 0)),
        approved and verdict == HELD,
        {str(name): int(about["bytes"]) for name, about in manifest["files"].items()},
    )


def _folders(parent: Path) -> list[Path]:
    try:
        return [each for each in parent.iterdir() if each.is_dir() and not each.is_symlink() and each.name[0] != "."]
    except OSError:
        return []
