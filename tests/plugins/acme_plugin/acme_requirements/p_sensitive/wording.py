"""What reports, plans and messages say of it."""

from __future__ import annotations

from ppdm_flow.plugins import Wording, larger_classes


def clause(requirement):
    return f"k ≥ {requirement['k']}, p ≥ {requirement['p']}"


WORDING = Wording(
    label="p-sensitive k-anonymity", clause=clause, advice=larger_classes, section="What can be inferred"
)
