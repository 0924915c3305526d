"""Faults that end the reading of one file."""

from __future__ import annotations

from ppdm_flow.core.diagnostics import Diagnostic


class UnreadableError(Exception):
    """A file's text cannot be understood any further; its loader turns this into a diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)
