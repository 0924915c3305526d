"""A look at an uploaded table by the source that will read it, in a process that cannot take the server with it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.page.services.uploads.kinds import Kind

_log = logging.getLogger("ppdm_flow.page")
_SECONDS = 120
_MODULE = "ppdm_flow.page.services.uploads.look"


def read_begin(file: Path, kind: Kind) -> None:
    """Raise DataError with what the source says, where a file cannot be read as a table of its kind (PPF995)."""
    command = [sys.executable, "-m", _MODULE, kind.format, str(file)]
    try:
        done = subprocess.run(  # noqa: S603  # our own program; the path is of our making
            command, capture_output=True, text=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise _unread("it takes too long to read") from None
    if done.returncode not in (0, 1):
        _log.error("the process that looks at an upload ended with %d", done.returncode)
    if done.returncode:
        raise _unread(_reason(done.stdout) or "reading it took too much memory, or the reader failed")


def _reason(text: str) -> str:
    try:
        said = json.loads(text)
    except ValueError:
        return ""
    return said if isinstance(said, str) else ""


def _unread(why: str) -> DataError:
    help_ = "open it where it was made, and write it anew"
    return DataError(Diagnostic("PPF995", f"the upload is refused: {why}", help=help_))
