"""The program: its verbs, and what becomes of an error that none of them expects."""

from __future__ import annotations

import codecs
import gc
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from ppdm_flow.cli.terminal import clock  # noqa: F401  # first of all: it looks when the program began
from ppdm_flow.cli.terminal.ending import Ending
from ppdm_flow.cli.terminal.output import complain
from ppdm_flow.core.errors import PpdmError, RunError

_PLAIN = {"└": "`", "├": "|", "│": "|", "─": "-", "≥": ">=", "≤": "<=", "…": "...", "–": "-", "—": "-", "→": "->"}
_NAME = "ppdm-plain"
_SPINNING = "18"
"""How long threads of OpenBLAS look for work before they sleep: 2^18 processor cycles, where its default is 2^26.

NumPy and SciPy start one a core when they are imported. Most runs have no work for them, and paid a twentieth of a
second of every core for each.
"""
_NO_PLUGINS = "__all__"
"""Plugins of pydantic see every value that is validated, and finding that there are none takes seven milliseconds: the
program has none of them unless its user's environment says so.
"""
_YOUNG = 100_000
"""New objects after which garbage is looked for; Python's own 700 are there many times while modules are imported, and
no array is counted among them.
"""


def prepare() -> None:
    """Let every text be written: what the encoding lacks becomes plain or is escaped; a closed stream swallows."""
    codecs.register_error(_NAME, plain)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  # for good
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)


def plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what stands for the characters that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in characters), error.end


def app(words: Sequence[str], prog_name: str, *, alone: bool = False) -> None:
    """Run the program for these words. Its modules are no garbage: looking for some while they are made costs time.

    ``alone``: the process is the program's own, so nobody has to look through its modules at the end either.
    """
    gc.disable()
    try:
        from ppdm_flow.cli.program import program as built  # noqa: PLC0415  # see above

        program = built(words)
    finally:
        gc.enable()
    if alone:
        gc.freeze()
        gc.set_threshold(_YOUNG)
    program(words, prog_name=prog_name, obj=alone)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit: 0 yes, 1 no, 2 the input is at fault, 3 the tool failed, 4 held, 130 interrupted."""
    if arguments is not None:
        _answer(list(arguments), alone=False)
    ending = Ending()
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _SPINNING)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", _NO_PLUGINS)
    try:
        _answer(sys.argv[1:], alone=True)
    except SystemExit as left:
        ending.comes(left.code)
        raise


def _answer(words: list[str], *, alone: bool) -> NoReturn:
    prepare()
    try:
        app(words, "ppdm-flow", alone=alone)
    except PpdmError as error:
        complain(error.diagnostics, error.sources)
        _defects().trace(error, words)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001  # the last place: whatever it is, no traceback and no value may show
        complain((_defects().defect(error),), {})
        _defects().trace(error, words)
        sys.exit(RunError.exit_status)
    sys.exit(0)


def _defects() -> ModuleType:
    """What is needed only once something went wrong."""
    from ppdm_flow.cli.terminal import defects  # noqa: PLC0415  # see above

    return defects
