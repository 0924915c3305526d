"""What leaves the house: the files that were audited, as they were then, and nothing beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.hashing import identity, sha256

Identity = tuple[int, int, int]


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
