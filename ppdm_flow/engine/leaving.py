"""What leaves the house: the files that were audited, as they were then, and nothing beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.hashing import identity

Identity = tuple[int, int, int]


def check_leaving(folder: Path, audited: Mapping[Path, Identity]) -> None:
    """Hold the candidates' folder against the audited files. Raises RunError for a change, or a file more or less."""
    found = {p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()}
    if found != audited.keys():
        raise run_fault("PPF904", f"{len(found ^ audited.keys())} files beside the releases, or without them")
    for path, before in audited.items():
        if path.is_symlink() or identity(path) != before:
            raise run_fault("PPF903", f"`{path.name}` was written to after it had been read back")
