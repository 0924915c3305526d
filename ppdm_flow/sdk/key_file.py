"""Files that hold a key: nobody but their owner may read or change them."""

from __future__ import annotations

import os
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.spans import Span

_OTHERS = 0o077


def is_shared(path: Path) -> bool:
    """Return whether group or others have any right to the file. False on systems without such rights.

    Raises OSError where there is no such file.
    """
    return os.name == "posix" and bool(path.stat().st_mode & _OTHERS)


def refuse_shared(path: Path, what: str, span: Span | None = None) -> None:
    """Raise DataError where others than its owner may read the key ``what``; a file that is not there is no fault."""
    try:
        shared = is_shared(path)
    except OSError:
        return
    if shared:
        text = f"others than its owner may read {what} `{path}`"
        raise DataError(Diagnostic("PPF920", text, span=span, help=f"chmod 600 {path}"))
