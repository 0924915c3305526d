"""``ppdm-flow profile``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import names as columns_of
from ppdm_flow.cli.terminal.options import option
from ppdm_flow.cli.terminal.output import columns, complain, deliver, say
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

if TYPE_CHECKING:
    from ppdm_flow.api.profile.profile import ProfileResult
    from ppdm_flow.api.profile.questions import Topic

EXAMPLES = (
    "profile data.csv > policies/new.yaml",
    "profile visits.parquet --out policies/visits.yaml",
    "profile adult.data.gz --no-header --format text",
    "profile visits.csv --ask --out policies/visits.yaml",
    "profile spark.csv --delimiter ';' --escape backslash",
)


class ProfileFormat(StrEnum):
    """How a profile is written."""

    YAML = "yaml"
    JSON = "json"
    TEXT = "text"


def profile(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The data file.", show_default=False)],
    form: Annotated[
        ProfileFormat, typer.Option("--format", help="yaml: a first policy, with comments; json, text: what was found.")
    ] = ProfileFormat.YAML,
    out: Annotated[
        Path | None, typer.Option("--out", "--output-file", "-o", metavar="FILE", help="Write there, if nothing is.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns; else it is guessed."),
    ] = None,
    delimiter: Annotated[
        str | None, option("--delimiter", "SIGN", "The sign between cells of a text file; else guessed.")
    ] = None,
    encoding: Annotated[str | None, option("--encoding", "NAME", "Its encoding; else it is found out.")] = None,
    escape: Annotated[
        str | None,
        option("--escape", "SIGN", "The sign before quotes inside quotes: `backslash`; `none` for doubled quotes."),
    ] = None,
    missing: Annotated[
        str | None,
        option("--missing", "MARKS", "Texts that mean missing values beside empty cells, with commas between."),
    ] = None,
    names: Annotated[
        str | None,
        option("--columns", "NAMES", "Names of the columns, with commas between, for a file without a header."),
    ] = None,
    input_format: Annotated[
        str | None,
        option(
            "--input-format",
            "FORMAT",
            "How the file is written, if its name does not say it: csv (a table), baskets (a line of names for each"
            " set), transactions (a line of item numbers), parquet, excel, …",
        ),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option("--ask", help="Ask at most five questions first: who receives it, what is studied, …"),
    ] = False,
) -> None:
    """Write a first policy for data: types, roles guessed with reasons, what tells rows apart, what to require.

    Every line is a guess to start from. No value of the data is shown, in no format: only names of columns, counts,
    and how far apart intervals end.

    Exit status: 0 written, 2 the data cannot be read, or the file is there already.
    """
    if out is not None and out.exists() and out.is_file():
        raise UsageError(Diagnostic("PPF673", f"`{out}` is there already: nothing was written"))
    given = None if names is None else columns_of(names)
    marks = None if missing is None else tuple(mark for mark in map(str.strip, missing.split(",")) if mark)
    result = api.profile(
        data,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        escape=escape,
        names=given,
        missing=marks,
        input_format=input_format,
    )
    if result.read_as:
        say(f"read as: {result.read_as}; `--delimiter`, `--encoding` and `--escape` say it otherwise")
    if header is None and given is None and result.document["source"]["columns"] is not None:
        say(
            "the first line looks like data, or like nothing that columns are called by, so the columns are numbered:"
            " `--header` takes it for their names"
        )
    if ask:
        result = _asked(result)
    deliver(result.rendered(form.value, columns(), out.parent if out is not None else None), out)


def _asked(result: ProfileResult) -> ProfileResult:
    """Ask a steward, one question after the other; nothing, or the end of the input, lets the safer guess stand."""
    answers: dict[Topic, str] = {}
    while (question := result.next_question(answers)) is not None:
        text = f"{question.text} ({question.choices}; nothing: {question.guess})"
        try:
            said = str(typer.prompt(text, default="", show_default=False, err=True)).strip()
        except typer.Abort:  # Ctrl-C, or the end of answers that come from a file
            if sys.stdin.isatty():
                raise
            said = ""
        try:
            result.answered({**answers, question.topic: said})
        except UsageError as error:
            if not sys.stdin.isatty():  # nobody there to answer again
                raise
            complain(error.diagnostics, {})
        else:
            answers[question.topic] = said
    return result.answered(answers)
