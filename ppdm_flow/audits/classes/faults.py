"""What keeps a figure of classes from being measured."""

from __future__ import annotations

from typing import ClassVar

from ppdm_flow.audits.release import source_of
from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.audit import AuditContext


class UnmeasuredError(Exception):
    """A requirement cannot be verified. ``text`` says why, without naming any value; ``code`` is the finding's."""

    code: ClassVar[str]

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class UnrankedError(UnmeasuredError):
    """Values have no place in an order."""

    code = "PPF877"


class RandomizedError(UnmeasuredError):
    """Released values are not those of the people."""

    code = "PPF880"


def require_true_values(column: str, ctx: AuditContext) -> None:
    """Raise RandomizedError where a released sensitive column was perturbed.

    A class of equal values looks diverse once they are randomized, and whoever knows the operator still sees what they
    were.
    """
    facts = ctx.attributes.get(column)
    if facts is not None and facts.was(Change.PERTURBED):
        raise RandomizedError(
            f"The released values of `{source_of(column, ctx)}` are randomized: how they vary within a class says"
            " nothing of the people's own values. Bound what is learned of those by `sensitivities`."
        )
