"""Errors for figures of classes that cannot be measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.releases.attributes import listed
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


class UncrowdedError(UnmeasuredError):
    """Crowds and wildcards do not go together."""

    code = "PPF837"


class UncountedError(UnmeasuredError):
    """Nobody can say which original rows generated ones repeat."""

    code = "PPF867"


def require_true_values(attribute: str, carriers: Sequence[str], ctx: AuditContext) -> None:
    """Raise RandomizedError where a released column of a sensitive attribute was perturbed, or made of drawn values.

    A class of equal values looks diverse once they are randomized, but a reader who knows the operator still sees what
    they were.
    """
    for column in carriers:
        facts = ctx.attributes.get(column)
        if facts is not None and (facts.was(Change.PERTURBED) or attribute in facts.lineage.drawn):
            raise RandomizedError(
                f"The released values of `{attribute}` are randomized: how they vary within a class says"
                " nothing of the people's own values. Bound what is learned of those by `sensitivities`."
            )


def require_pairs_of_nulls(columns: RevealingColumns, nulls: Nulls) -> None:
    """Raise UncrowdedError where missing values are wildcards and a column mixes grouping with sensitive values."""
    if columns.mixed and nulls is Nulls.WILDCARD:
        what = "is" if len(columns.mixed) == 1 else "are"
        raise UncrowdedError(
            f"{listed(columns.mixed)} {what} computed from quasi-identifiers and from a sensitive attribute, and who"
            " shares such a cell cannot be told where a missing value may be any: use `nulls: own_category`."
        )
