"""Errors that say everything: as text, an error is what the command line prints of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.report.diagnostics import render


@contextmanager
def in_full() -> Iterator[None]:
    """Give errors of the block the text of the command line: each diagnostic with place, line, hint and help."""
    try:
        yield
    except PpdmError as error:
        error.args = (render(error.diagnostics, error.sources).rstrip("\n"),)
        raise
