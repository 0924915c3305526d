"""Writing a file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError, UsageError

_NO_PLACE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


def write(file: Path, text: str) -> None:
    """Write beside the place and move there last, so that nobody reads half a file.

    Devices and pipes are written to directly. Raises UsageError (PPF693) where the place is not writable, RunError
    (PPF698) where the machine fails: a full disk.
    """
    try:
        _write(file, text.encode("utf-8", "backslashreplace"))
    except _NO_PLACE as error:
        raise UsageError(Diagnostic("PPF693", f"cannot write `{file}`: {_reason(error)}")) from None
    except OSError as error:
        raise RunError(Diagnostic("PPF698", f"cannot write `{file}`: {_reason(error)}")) from None


def writable(file: Path) -> None:
    """Raise UsageError (PPF693) where a file can certainly not be written: better before the work than after it."""
    folder = file.parent
    fault = None
    if file.is_dir():
        fault = "Is a directory"
    elif not folder.is_dir():
        fault = "No such file or directory" if not folder.exists() else "Not a directory"
    elif not os.access(file if file.exists() and not file.is_file() else folder, os.W_OK):
        fault = "Permission denied"
    if fault:
        raise UsageError(Diagnostic("PPF693", f"cannot write `{file}`: {fault}"))


def _write(file: Path, content: bytes) -> None:
    if file.exists() and not file.is_file():
        if file.is_dir():
            raise IsADirectoryError(21, os.strerror(21))
        file.write_bytes(content)
        return
    target = file.resolve()  # a link stays a link
    part = target.with_name(f".{target.name[:80]}.{os.urandom(4).hex()}.part")
    try:
        with part.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else type(error).__name__
