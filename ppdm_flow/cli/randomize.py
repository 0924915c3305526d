"""``ppdm-flow randomize``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import OutputFile, option
from ppdm_flow.cli.terminal.output import complain, deliver, put
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DataError

_AT_ONCE = 1 << 12
EXAMPLES = (
    "randomize --operator operator.json < my-basket.txt",
    "randomize baskets.txt --operator operator.json -o sent.jsonl",
    "randomize clicks.dat --operator operator.json --input-format transactions | send-to-server",
)


class LineFormatName(StrEnum):
    """How a line with a set is written."""

    BASKETS = "baskets"
    TRANSACTIONS = "transactions"


def randomize(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="Lines with a set each; stdin if it is left out, or -.", show_default=False
        ),
    ] = None,
    operator: Annotated[Path, option("--operator", "FILE", "The operator.json that the server published.")] = Path(
        "operator.json"
    ),
    attribute: Annotated[str | None, option("--attribute", "NAME", "Whose operator, if the file has several.")] = None,
    input_format: Annotated[
        LineFormatName | None,
        typer.Option(
            "--input-format",
            help="Names with commas between, or item numbers with blanks between; baskets, but for .dat and .fimi.",
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        option(
            "--key-file", "FILE", "For tests: the key of the draws, 64 hexadecimal digits. A fresh one if not given."
        ),
    ] = None,
    output_file: OutputFile = None,
) -> None:
    """Randomize your own sets of items by an operator that a server published, before anything leaves this machine.

    Each set becomes a line of JSON to send: how many items it had, and those of the randomized set (or its seed). Draws
    follow from a fresh key of the operating system. Randomize and send each set once: two versions of one set
    reveal more about it than the operator states.

    Exit status: 0 randomized, 2 the operator or a line is at fault; lines before it were written.
    """
    chosen = input_format or _infer_line_format(data)
    key = None if key_file is None else api.read_draw_key(key_file)
    complain(_warnings(operator, attribute, keyed=key is not None), {})
    at_once = 1 if data is None or str(data) == "-" else _AT_ONCE
    lines = api.randomize_lines(_lines(data), operator, chosen.value, attribute=attribute, key=key, at_once=at_once)
    if output_file is not None:
        deliver("\n".join(lines), output_file, exact=True)
        return
    for line in lines:
        put(line, exact=True)


def _infer_line_format(data: Path | None) -> LineFormatName:
    name = "" if data is None else data.name.lower().removesuffix(".gz")
    return LineFormatName.TRANSACTIONS if name.endswith((".dat", ".fimi")) else LineFormatName.BASKETS


def _lines(data: Path | None) -> Iterator[bytes]:
    if data is None or str(data) == "-":
        yield from sys.stdin.buffer
        return
    try:
        with data.open("rb") as file:
            yield from file
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise DataError(Diagnostic("PPF701", f"cannot read `{data}`: {reason}")) from None


def _warnings(operator: Path, attribute: str | None, *, keyed: bool) -> Iterator[Diagnostic]:
    if api.changes_nothing(operator, attribute):
        text = "this operator leaves sets as they are, at least those of some length: what is sent are the true ones"
        yield Diagnostic("PPF444", text, severity=Severity.WARNING, help="ask the server for an operator that protects")
    elif api.adds_little(operator, attribute):
        text = "this operator adds no other item to most sets, at least of some length: all items sent are true ones"
        yield Diagnostic("PPF444", text, severity=Severity.WARNING, help="ask the server for an operator that protects")
    if keyed:
        text = "draws follow from the key in the file: a reader who has it, or sees two sets of one place, knows more"
        yield Diagnostic("PPF444", text, severity=Severity.WARNING, help="leave `--key-file` out but for tests")
