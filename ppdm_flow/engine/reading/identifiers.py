"""Searches the released bytes for values of identifiers: after any step, none of them may be left."""

from __future__ import annotations

import pyarrow.compute as pc

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.view import DataView

_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})


def check_identifiers(release: ReleaseNode, original: DataView, candidate: DataView) -> None:
    """Hold each released identifier or subject against its values in the original. Raises DataError for any of them.

    A plan knows only that a step says it replaced them with a key; of another tool's file it knows nothing.
    """
    for facts in release.attributes:
        source = facts.source or facts.name
        if facts.role not in _PERSONAL or source not in original.schema:
            continue
        there = candidate.domain(facts.name)
        left = pc.sum(pc.is_in(there, value_set=original.domain(source))).as_py() or 0
        if left:
            verb = "value reaches" if left == 1 else "values reach"
            raise data_fault(
                "PPF728",
                f"{left:,} {verb} release `{release.name}` unchanged from the {facts.role} `{source}`",
                span=facts.span,
                advice="`pseudonymize` replaces every value; or drop the column",
            )
