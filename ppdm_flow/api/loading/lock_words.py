"""What is said of lock files."""

from __future__ import annotations

import os
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.lock.model import FILE


def shown(file: Path) -> str:
    """Return an absolute path as people write it: from the current folder."""
    here = Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else os.path.relpath(file, here)


def missing(folder: Path) -> Diagnostic:
    """Return what to say where there is no lock for policies in a folder."""
    text = f"there is no `{FILE}` in `{shown(folder)}` or above it"
    return Diagnostic("PPF681", text, help="`ppdm-flow lock` writes it")
