"""The repository that files stand in."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.report.locations import Locations


def locations(folder: Path | None = None) -> Locations:
    """Return where paths start: from ``folder`` (the current one), and from the nearest folder with `.git` above it."""
    here = (folder or Path.cwd()).absolute()
    root = next((place for place in (here, *here.parents) if (place / ".git").exists()), here)
    return Locations(root, here)
