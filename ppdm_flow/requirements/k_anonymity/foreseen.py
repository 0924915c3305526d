"""What the data lets one expect of k-anonymity."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.view import DataView


def foresee(requirement: KAnonymity, _view: DataView, people: int) -> Iterator[Diagnostic]:
    """Yield why it cannot hold."""
    if people < requirement.k:
        text = f"k = {requirement.k} cannot hold: there are {people} rows in all"
        yield Diagnostic("PPF784", text, requirement.span)
