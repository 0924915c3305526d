"""The program: its verbs, and what becomes of an error that none of them expects."""

from __future__ import annotations

import errno
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from ppdm_flow.cli.output import complain
from ppdm_flow.cli.streams import prepare
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError, RunError


def app(words: Sequence[str], prog_name: str) -> None:
    """Run the program for these words. Its modules are no garbage: looking for some while they are made costs time."""
    gc.disable()
    try:
        program = import_module("ppdm_flow.cli.program").program(words)
    finally:
        gc.enable()
    program(words, prog_name=prog_name)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit: 0 yes, 1 no, 2 the input is at fault, 3 the tool failed, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    prepare()
    try:
        app(words, "ppdm-flow")
    except PpdmError as error:
        complain(error.diagnostics, error.sources)
        _trace(error, words)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001  # the last place: whatever it is, no traceback and no value may show
        complain((_defect(error),), {})
        _trace(error, words)
        sys.exit(RunError.exit_status)
    sys.exit(0)


def _defect(error: Exception) -> Diagnostic:
    if isinstance(error, OSError) and error.errno is not None:
        full = " the disk is full:" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        return Diagnostic("PPF698", f"the machine said no:{full} {os.strerror(error.errno)}")
    if isinstance(error, MemoryError):
        return Diagnostic("PPF698", "the machine said no: out of memory", help="try a smaller `--partition-rows`")
    at = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" in {os.path.basename(at[0].filename)}, line {at[0].lineno}" if at else ""  # noqa: PTH119  # a name, not a file
    return Diagnostic(
        "PPF699",
        f"a defect of the program: {type(error).__name__}{place}",
        help="`PPDM_LOG=debug` shows where it happened; please report it",
    )


def _trace(error: BaseException, words: Sequence[str]) -> None:
    """Show where an error came from, without its message: that may hold data values."""
    if os.environ.get("PPDM_LOG") != "debug" and "-vv" not in words:
        return
    seen: BaseException | None = error
    while seen is not None:
        lines = "".join(traceback.format_tb(seen.__traceback__))
        sys.stderr.write(f"{lines}{type(seen).__name__}\n")
        seen = seen.__cause__ or seen.__context__
