"""stdout for the thing asked for, stderr for talk."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.api import files
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.texts import visible, visible_colored
from ppdm_flow.report import diagnostics as drawing

if TYPE_CHECKING:
    from ppdm_flow.cli.terminal.phases import Phases


class Loudness:
    """What is said on stderr. ``quiet``: warnings and errors; ``verbose``: more than usual, and seconds by phase."""

    quiet = False
    verbose = False
    phases: Phases | None = None


LOUDNESS = Loudness()
"""Of the verb that runs: `ppdm_flow.cli.terminal.verbs` sets it."""


def put(text: str, *, exact: bool = False) -> None:
    """Write to stdout, and nothing that a terminal would obey but our own colours.

    ``exact`` text is for programs: into a pipe it goes as it is. A reader that has hung up changes nothing about the
    answer, so about the exit status.
    """
    terminal = sys.stdout.isatty()
    try:
        shown = text if exact and not terminal else _visible(text, terminal=terminal)
        sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _close(sys.stdout.fileno())


def say(text: str) -> None:
    """Write a line to stderr, unless the user asked for quiet."""
    if not LOUDNESS.quiet:
        _write(text)


def _write(text: str) -> None:
    try:
        sys.stderr.write(f"{_visible(text, terminal=sys.stderr.isatty())}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        _close(sys.stderr.fileno())


def columns() -> int:
    """Return how many columns the terminal has; at most 120, and 100 where there is none."""
    return min(120, shutil.get_terminal_size((100, 24)).columns)


def deliver(text: str, file: Path | None, *, exact: bool = False) -> None:
    """Write to ``file``, whole or not at all, or to stdout (see :func:`put`) where it is None.

    Raises UsageError where the file's place is not writable, RunError where the machine fails.
    """
    if file is None:
        put(text, exact=exact)
    else:
        files.write(file, text if text.endswith("\n") else f"{text}\n")


def complain(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]) -> None:
    """Draw diagnostics on stderr. Where the user asked for quiet warnings stay: some are of a risk to people."""
    shown = [d for d in diagnostics if not LOUDNESS.quiet or d.severity is not Severity.INFO]
    text = drawing.render(shown, sources, color=colored(sys.stderr.isatty()))
    if text:
        _write(text.rstrip("\n"))


def colored(terminal: bool) -> bool:
    """Whether to write colours: on a terminal, unless ``NO_COLOR`` says no; ``FORCE_COLOR`` says yes."""
    if os.environ.get("NO_COLOR"):
        return False
    return terminal or bool(os.environ.get("FORCE_COLOR"))


def _visible(text: str, *, terminal: bool) -> str:
    return visible_colored(text) if colored(terminal) else visible(text)


def _close(descriptor: int) -> None:
    """Point a broken stream nowhere, so that Python's own last flush does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the rows of a table: the first column to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield f"{first.ljust(widths[0])}  {numbers}"
