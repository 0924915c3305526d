"""Which requirements, once they hold of people, hold of rows: floors let a policy count people by what kinds say."""

from __future__ import annotations

import random

import pytest

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.language.kinds import spec_of
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.requirement_case import RequirementCase
from ppdm_flow.testing.view import InMemoryPairs

ILL = {"disease": ["1"]}
ENTRIES = [
    ("k_anonymity", "", {"k": 3}),
    ("l_diversity", "disease", {"l": 2}),
    ("l_diversity", "disease", {"l": 1.8, "kind": "entropy"}),
    ("l_diversity", "disease", {"l": 2, "kind": "recursive", "c": 1.5}),
    ("t_closeness", "disease", {"t": 0.3, "distance": "equal"}),
    ("alpha_k", "disease", {"alpha": 0.6}),
    ("alpha_k", "disease", {"alpha": 0.6, "values": ["1", "2"]}),
    ("beta_likeness", "disease", {"beta": 0.7}),
    ("lkc", "", {"l": 2, "k": 2, "c": 0.6, "sensitive": ILL}),
    ("templates", "ill", {"channel": ["age"], "sensitive": ILL, "confidence": 0.6}),
    ("templates", "ill", {"channel": ["age"], "sensitive": ILL, "confidence": 0.7, "negated": "true"}),
]


def drawn(dice):
    """A table whose groups are mixed, of people with a few rows each."""
    rows = dice.randrange(6, 15)
    cells = {name: [str(dice.randrange(2)) for _ in range(rows)] for name in ("age", "town")}
    cells["disease"] = [dice.choice("1123") for _ in range(rows)]
    return Table.of(cells), [f"person {dice.randrange(rows)}" for _ in range(rows)]


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize(("kind", "name", "entry"), ENTRIES)
def test_what_holds_of_people_and_not_of_rows(kind, name, entry):
    spec, dice, of_both, of_people_alone = spec_of(kind), random.Random(11), 0, 0
    case = RequirementCase(spec, (entry,), name, nulls=(Nulls.OWN_CATEGORY,))
    (requirement,) = case.requirements[Nulls.OWN_CATEGORY]
    holds_by_rows = spec.holds_by_rows(entry)
    for _ in range(50 if holds_by_rows else 2_000):
        original, person = drawn(dice)
        owned, file = original.replaced({"whose row": Column.of(person)}), case.file(original)
        people, pairs = PeopleCount("whose row", known_rows=1), InMemoryPairs(owned, file.table)
        if case.judge_file(requirement, owned, file, Nulls.OWN_CATEGORY, people=people, pairs=pairs).passes:
            holds = case.judge(requirement, original, Nulls.OWN_CATEGORY).passes
            of_both, of_people_alone = of_both + holds, of_people_alone + (not holds)
        if of_both and of_people_alone:
            break
    assert of_both
    assert (of_people_alone == 0) is holds_by_rows
