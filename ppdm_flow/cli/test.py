"""``ppdm-flow test``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import Locked, OutputFile, option
from ppdm_flow.cli.terminal.output import colored, columns, complain, deliver, put, say
from ppdm_flow.report import test as text
from ppdm_flow.report.test import PolicyTestOutcome, PolicyTestResult, PolicyTestResults

EXAMPLES = (
    "test",
    "test pipelines/tests -k 'refused' --coverage",
    "test tests/ --format junit --output-file tests.xml --fail-under 80",
)


class PolicyTestFormat(StrEnum):
    """How the outcome is written."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def test(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Test files, their folders, or glob patterns.", show_default="."),
    ] = None,
    patterns: Annotated[
        list[str] | None, option("-k", "PATTERN", "A part of `FILE::NAME`, or a glob over the name; repeatable.")
    ] = None,
    form: Annotated[
        PolicyTestFormat, typer.Option("--format", help="How to write the outcome.")
    ] = PolicyTestFormat.TEXT,
    output_file: OutputFile = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; as many as pay, where it is left out.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="List parts of policies that no test exercises.")
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option("--fail-under", metavar="PERCENT", min=0, max=100, help="The least coverage; implies --coverage."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Only list the tests.")] = False,
    locked: Locked = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show everything that was measured.")] = False,
) -> None:
    """Test policies with small tables and expected results. Nothing is ever released.

    Exit status: 0 all tests passed, 1 one failed (or covers too little), 2 a test file is at fault or none is found,
    3 the tool failed in a test.
    """
    words = paths or ["."]
    if listing:
        deliver("\n".join(api.list_tests(words, patterns or ())), output_file)
        return
    streaming = form is PolicyTestFormat.TEXT and output_file is None
    writing = _TestPrinter(streaming=streaming, verbose=verbose)
    tested = api.run_tests(
        words,
        patterns or (),
        writing,
        workers=workers,
        measure_coverage=coverage,
        fail_under=fail_under,
        every_figure=verbose,
        locked=locked,
    )
    if streaming:
        put(_rest(tested, color=colored(sys.stdout.isatty())))
    else:
        deliver(_rendered(tested, form, verbose=verbose), output_file)
        say(text.summary(tested))
    fault = text.low(tested)
    if fault is not None:
        complain((fault,), {})
    raise typer.Exit(tested.exit_status)


class _TestPrinter:
    """Writes each test's line as soon as all before it are done; otherwise counts on a terminal."""

    def __init__(self, *, streaming: bool, verbose: bool) -> None:
        self.streaming = streaming
        self.verbose = verbose
        self.file = ""

    def __call__(self, result: PolicyTestResult, done: int, total: int) -> None:
        if self.streaming:
            put("\n".join(_lines(result, self.file, self.verbose, color=colored(sys.stdout.isatty()))))
            self.file = result.file
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r{done}/{total} tests" + ("\n" if done == total else ""))
            sys.stderr.flush()


def _lines(result: PolicyTestResult, before: str, verbose: bool, *, color: bool) -> list[str]:
    width = columns()
    lines = [] if result.file == before else [text.heading(result)]
    lines.append(text.line(result, min(width, 88), color=color))
    more = text.details(result) if verbose else ""
    return [*lines, more] if more else lines


def _rendered(tested: PolicyTestResults, form: PolicyTestFormat, *, verbose: bool) -> str:
    match form:
        case PolicyTestFormat.JSON:
            from ppdm_flow.report.test import as_json  # noqa: PLC0415  # forms are imported when written

            return as_json(tested)
        case PolicyTestFormat.JUNIT:
            from ppdm_flow.report.test import as_junit  # noqa: PLC0415  # the same

            return as_junit(tested)
        case PolicyTestFormat.TEXT:
            return _all_lines(tested, verbose=verbose)


def _all_lines(tested: PolicyTestResults, *, verbose: bool) -> str:
    lines, file = [], ""
    for result in tested.results:
        lines += _lines(result, file, verbose, color=False)
        file = result.file
    return "\n".join([*lines, _rest(tested, color=False)])


def _rest(tested: PolicyTestResults, *, color: bool) -> str:
    """Return what stands below the lines: failures, coverage, and the sum."""
    parts = [text.failure(r, color=color) for r in tested.results if r.outcome is not PolicyTestOutcome.PASSED]
    if tested.coverage is not None:
        parts.append(text.coverage(tested, columns()) + "\n")
    end = text.summary(tested)
    advice = text.advice(tested)
    return "\n" + "\n".join([*parts, f"{advice}\n{end}" if advice else end])
