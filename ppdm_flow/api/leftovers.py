"""What killed runs left on this machine: named, and removed if asked to; what belongs to a live run is not touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.addresses.bucket import is_bucket
from ppdm_flow.engine.buckets.copies import folders_of_copies
from ppdm_flow.engine.candidates.unpublished import (
    clear_stale_runs,
    is_dead,
    may_be_in_ledger,
    unpublished_runs,
)
from ppdm_flow.engine.spark.work_folders import left_folders, remove_left_folders


@dataclass(frozen=True, slots=True)
class Leftover:
    """A folder of a run that is not published; ``alive`` is whether its run goes on, or may: its lock is not free.

    ``in_ledger`` is one that a repair of the ledger settles.
    """

    path: Path
    alive: bool = False
    in_ledger: bool = False
    removed: bool = False


def leftovers(out: Path, *, clean: bool) -> Iterator[Leftover]:
    """Yield what runs with this output left, in folders of executors of this machine too; ``clean`` removes it."""
    for parent in _parents(out):
        seen = [Leftover(path, not is_dead(path), may_be_in_ledger(path)) for path in _runs(parent)]
        if clean and any(not each.alive for each in seen):
            clear_stale_runs(parent)
        for each in seen:
            yield Leftover(each.path, each.alive, each.in_ledger, not each.path.exists())
    folders = left_folders()
    if clean:
        remove_left_folders()
    for folder in folders:
        yield Leftover(folder, removed=not folder.exists())


def _parents(out: Path) -> Iterator[Path]:
    """Yield the folders in which runs are made: one of each policy, and those for copies of objects."""
    try:
        policies = [] if is_bucket(out) else sorted(out.iterdir())
    except OSError:
        policies = []
    for parent in dict.fromkeys((*policies, *folders_of_copies(out))):
        if parent.is_dir() and not parent.is_symlink():
            yield parent


def _runs(parent: Path) -> list[Path]:
    try:
        return sorted(unpublished_runs(parent))
    except OSError:
        return []
