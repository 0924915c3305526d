"""The program: its verbs, and what becomes of an error that none of them expects."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from ppdm_flow.cli.terminal import clock  # noqa: F401  # first of all: it looks when the program began
from ppdm_flow.cli.terminal.output import complain
from ppdm_flow.core.errors import PpdmError, RunError

_PLAIN = {"└": "`", "├": "|", "│": "|", "─": "-", "≥": ">=", "≤": "<=", "…": "...", "–": "-", "—": "-", "→": "->"}
_NAME = "ppdm-plain"


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
    """Return a replacement for the characters that cannot be encoded, and the position after them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in characters), error.end


def app(words: Sequence[str], prog_name: str) -> None:
    """Run the program for these words."""
    from ppdm_flow.cli.program import program  # noqa: PLC0415  # an error while it is imported is answered, too

    program(words)(words, prog_name=prog_name)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit: 0 yes, 1 no, 2 the input is at fault, 3 the tool failed, 4 held, 130 interrupted."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    prepare()
    try:
        app(words, "ppdm-flow")
    except PpdmError as error:
        complain(error.diagnostics, error.sources)
        _defects().trace(error, words)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001  # the last handler: no traceback and no value may show
        complain((_defects().defect(error),), {})
        _defects().trace(error, words)
        sys.exit(RunError.exit_status)
    sys.exit(0)


def _defects() -> ModuleType:
    """What is needed only once something went wrong."""
    from ppdm_flow.cli.terminal import defects  # noqa: PLC0415  # see above

    return defects
