"""What is said of errors that no verb expects, and where they came from."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence

from ppdm_flow.core.diagnostics import Diagnostic

NOT_LIGHT = frozenset({"cryptography", "duckdb", "llvmlite", "numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn"})
"""Libraries that the light distribution lacks: it has the verbs that read no data."""


def defect(error: Exception) -> Diagnostic:
    """Return what is said of an error that nobody expects: never its message, which may hold data values."""
    if isinstance(error, OSError) and error.errno is not None:
        full = " the disk is full:" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        return Diagnostic("PPF698", f"the machine said no:{full} {os.strerror(error.errno)}")
    if isinstance(error, MemoryError):
        return Diagnostic("PPF698", "the machine said no: out of memory", help="try a smaller `--partition-rows`")
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in NOT_LIGHT:
        text = f"this needs `{(error.name or '').partition('.')[0]}`, which is not installed"
        return Diagnostic("PPF697", text, help="install `ppdm_flow`: the light distribution reads no data")
    at = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" in {os.path.basename(at[0].filename)}, line {at[0].lineno}" if at else ""  # noqa: PTH119  # a name, not a file
    return Diagnostic(
        "PPF699",
        f"a defect of the program: {type(error).__name__}{place}",
        help="`PPDM_LOG=debug` shows where it happened; please report it",
    )


def trace(error: BaseException, words: Sequence[str]) -> None:
    """Show where an error came from, without its message: that may hold data values."""
    if os.environ.get("PPDM_LOG") != "debug" and "-vv" not in words:
        return
    seen: BaseException | None = error
    while seen is not None:
        lines = "".join(traceback.format_tb(seen.__traceback__))
        sys.stderr.write(f"{lines}{type(seen).__name__}\n")
        seen = seen.__cause__ or seen.__context__
