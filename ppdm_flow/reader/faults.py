"""Reasons why a reader's knowledge is not accounted for."""

from __future__ import annotations


class NotVerifiedError(Exception):
    """Raised where a reader's knowledge is not accounted for; the text says why."""


class JoinTooLargeError(NotVerifiedError):
    """A join has more combinations than are looked at."""

    def __init__(self) -> None:
        super().__init__("there are more combinations than are looked at")


class TruthExcludedError(Exception):
    """The true rows are no guess: what columns carry, how rows were paired, or this code is wrong."""
