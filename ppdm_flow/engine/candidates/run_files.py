"""Where the files of a finished run are, by the names that its manifest has: those of a held run lie elsewhere."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.engine.candidates.unpublished import HELD, RELEASED, is_held

PUBLICATION = "publication.json"
"""Who approved a held run, and when it was released."""
UNFINISHED = f".{PUBLICATION}.new"
"""The same while it is written."""


def place_of(run_dir: Path, name: str) -> Path:
    """Return where a file of a manifest is: what is called ``released/`` there lies in ``held/`` until it is out."""
    if name.startswith(f"{RELEASED}/") and is_held(run_dir):
        return run_dir / HELD / name.removeprefix(f"{RELEASED}/")
    return run_dir / name
