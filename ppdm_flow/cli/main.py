"""The program: its verbs, and what becomes of an error that none of them expects."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

import ppdm_flow
from ppdm_flow.cli import (
    audit,
    check,
    diff,
    doctor,
    explain,
    hierarchy,
    init,
    ledger,
    listing,
    mine,
    plan,
    policy_tests,
    profile,
    reconstruct,
    report,
    run,
    schema,
    show,
    sweep,
    verify,
)
from ppdm_flow.cli.output import complain, put
from ppdm_flow.cli.streams import prepare
from ppdm_flow.cli.verbs import HELP, add
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError, RunError

app = typer.Typer(
    name="ppdm-flow",
    help="A release policy in, an audited release of personal data or a refusal out.",
    epilog="Start with `ppdm-flow init DIR`, or look a word up with `ppdm-flow explain WORD`.",
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP,
)
_VERBS = (
    check,
    plan,
    run,
    audit,
    verify,
    report,
    policy_tests,
    sweep,
    diff,
    reconstruct,
    mine,
    hierarchy,
    profile,
    ledger,
    show,
    listing,
    explain,
    schema,
    init,
    doctor,
)
for _module in _VERBS:
    add(app, _module)


def _version(asked: bool) -> None:
    if asked:
        put(f"ppdm-flow {ppdm_flow.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A release policy in, an audited release of personal data or a refusal out."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit: 0 yes, 1 no, 2 the input is at fault, 3 the tool failed, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    prepare()
    try:
        app(words, prog_name="ppdm-flow")
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
