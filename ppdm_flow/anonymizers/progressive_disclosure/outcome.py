"""What came of the search, by attribute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem
from ppdm_flow.anonymizers.progressive_disclosure.search import Disclosure
from ppdm_flow.core.roles import Nulls
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class Outcome:
    """``shown`` are the disclosed values, sorted; ``missing_shown`` whether missing cells stay missing.

    ``disclosed`` and ``hidden`` count values, the missing one included; ``cells`` is the number of rows whose cell is
    suppressed.
    """

    attribute: str
    shown: tuple[str, ...]
    missing_shown: bool
    disclosed: int
    hidden: int
    cells: int


def outcomes(counts: Counts, problem: Problem, disclosures: Iterable[Disclosure], nulls: Nulls) -> tuple[Outcome, ...]:
    """Return one outcome an attribute, in the problem's order."""
    shown = [np.zeros(a.size, dtype=np.bool_) for a in problem.attributes]
    for disclosure in disclosures:
        shown[disclosure.attribute][disclosure.value] = True
    found = []
    for place, (attribute, mask) in enumerate(zip(problem.attributes, shown, strict=True)):
        names = counts.names(attribute.name).to_pylist()
        missing = attribute.size > len(names)
        occurs = problem.by_value(place)[:-1].sum(axis=1) > 0
        visible = np.append(mask, False)[attribute.codes]  # stuck cells have code -1, the last place
        found.append(
            Outcome(
                attribute.name,
                tuple(name for name, keep in zip(names, mask.tolist(), strict=False) if keep),
                missing_shown=bool(mask[-1]) if missing else nulls is Nulls.OWN_CATEGORY,
                disclosed=int(mask.sum()),
                hidden=int((occurs & ~mask).sum()),
                cells=int(counts.counts[~visible].sum()),
            )
        )
    return tuple(found)
