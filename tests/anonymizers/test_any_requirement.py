"""Steps that make classes enforce requirements that they have never heard of, held against every way to recode."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement import NameOf, Requirement
from ppdm_flow.core.requirement_families import OnSensitive, reaching
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.mining.recoding.grouping import RowGrouping, distinct
from ppdm_flow.mining.recoding.models import Bools, Floats, HereditaryModel, SensitiveColumns
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView


class PSensitive(OnSensitive):
    """Every class has at least ``k`` rows and ``p`` values of ``attribute`` (Truta, Vinay, ICDEW 2006)."""

    kind: ClassVar[str] = "p_sensitive"
    classes: ClassVar[str] = f"{__name__}:values_and_rows"
    p: int
    k: int


class Crowd(Requirement):
    """Every class over ``attributes`` has at least ``k`` rows; by another name than that of the built-in kind."""

    kind: ClassVar[str] = "crowd"
    classes: ClassVar[str] = f"{__name__}:rows"
    k: int
    attributes: tuple[str, ...]

    @property
    def grouping(self) -> tuple[str, ...]:
        return self.attributes

    def renamed(self, name_of: NameOf) -> Crowd:
        return self.changed(attributes=reaching(self.attributes, name_of))


@dataclass(frozen=True, slots=True)
class Large(HereditaryModel):
    """At least ``k`` records and ``p`` values; of attribute None there are none to count."""

    attribute: int | None
    k: int
    p: int = 0

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        large = grouping.sizes >= self.k
        return large if self.attribute is None else large & (distinct(grouping.cells[self.attribute]) >= self.p)


def values_and_rows(asked: PSensitive, columns: SensitiveColumns) -> list[Large]:
    return [Large(columns.place(asked.attribute), asked.k, asked.p)]


def rows(asked: Crowd, _columns: SensitiveColumns) -> list[Large]:
    return [Large(None, asked.k)]


TOWNS = {"a0": ("a01", "*"), "a1": ("a01", "*"), "a2": ("a23", "*"), "a3": ("a23", "*")}
AGES = {age: ("below 20" if int(age) < 20 else "from 20", "*") for age in ("3", "8", "14", "25", "33")}
FACTS = {
    "town": AttributeFacts("town", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(levels=tuple(TOWNS.items()))),
    "years": AttributeFacts(
        "years", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(levels=tuple(AGES.items())), source="age"
    ),
    "illness": AttributeFacts("illness", Role.SENSITIVE),
}
PERSON = st.tuples(st.sampled_from(sorted(TOWNS)), st.sampled_from(sorted(AGES)), st.sampled_from(["flu", "hiv", "no"]))
PEOPLE = st.lists(PERSON, min_size=2, max_size=30)
SOURCE = st.just(("town", "age"))
NUMBER = st.integers(1, 4)
ASKED = st.one_of(
    st.builds(PSensitive.of, st.just("p"), st.just("illness"), p=NUMBER, k=NUMBER, attributes=SOURCE),
    st.builds(Crowd.of, st.just("crowd"), k=NUMBER, attributes=SOURCE),
)


def fitted(step, people, *requirements, home=Path(), **params):
    spec = load("anonymizers", step)
    table = Table.of({name: [person[i] for person in people] for i, name in enumerate(FACTS)})
    view = InMemoryView.of(table, {"illness": Role.SENSITIVE})
    context = StepContext("r", FACTS, requirements, home=home)
    result = spec.load()(spec.params.model_validate(params)).fit(view, context)
    return result.figures, run(result.transform, table, partition_rows=7)[""]


def holds(asked, people):
    return len(people) >= asked.k and len({illness for *_, illness in people}) >= getattr(asked, "p", 0)


def classes_of(people, town, age):
    classes = defaultdict(list)
    for person in people:
        classes[town(person[0]), age(person[1])].append(person)
    return list(classes.values())


def released_classes(released):
    people = zip(*(released[name].texts() for name in FACTS), strict=True)
    return classes_of(people, str, str)


def levels_of(tree):
    return enumerate((str, lambda name: tree[name][0], lambda name: tree[name][1]))


def least_cost(asked, people, limit):
    """Precision of the cheapest levels, by looking at all of them; None where too many rows are lost at each."""
    costs = []
    for (i, town), (j, age) in itertools.product(levels_of(TOWNS), levels_of(AGES)):
        lost = sum(len(c) for c in classes_of(people, town, age) if not holds(asked, c))
        height = (i / 2 + j / 2) / 2
        if lost <= limit:
            costs.append(height + (1 - height) * lost / len(people))
    return min(costs, default=None)


@given(people=PEOPLE, asked=ASKED, share=st.sampled_from([0.0, 0.2, 0.5]))
def test_full_domain_recoding_finds_the_cheapest_levels(people, asked, share) -> None:
    best = least_cost(asked, people, int(share * len(people) + 1e-9))
    if best is None:
        with pytest.raises(PluginError) as raised:
            fitted("full_domain_recoding", people, asked, suppression=share, cost="precision")
        assert raised.value.diagnostics[0].code == "PPF806"
        return
    figures, released = fitted("full_domain_recoding", people, asked, suppression=share, cost="precision")
    assert figures["cost"].value == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert all(holds(asked, c) for c in released_classes(released))


@pytest.mark.parametrize("partitioning", ["strict", "relaxed"])
@given(people=PEOPLE, asked=ASKED)
def test_mondrian_keeps_it_in_every_class(partitioning, people, asked) -> None:
    if not holds(asked, people):
        with pytest.raises(PluginError) as raised:
            fitted("mondrian", people, asked, partitioning=partitioning)
        assert raised.value.diagnostics[0].code == "PPF784"
        return
    _, released = fitted("mondrian", people, asked, partitioning=partitioning)
    assert len(released) == len(people)
    assert all(holds(asked, c) for c in released_classes(released))


@pytest.mark.parametrize("step", ["mondrian", "full_domain_recoding"])
def test_it_is_enforced_beside_others_and_does_not_merge_everybody(step) -> None:
    people = [(town, age, illness) for town in TOWNS for age in ("3", "25") for illness in ("flu", "hiv")]
    both = (
        KAnonymity.of("k", k=2, attributes=("town", "age")),
        PSensitive.of("p", "illness", p=2, k=2, attributes=("town", "age")),
    )
    _, released = fitted(step, people, *both)
    assert len(released_classes(released)) == 8
    effect = load("anonymizers", step).effect(load("anonymizers", step).params(), Scope("r", FACTS, both))
    assert (effect.serves, effect.reads, effect.problems) == (("k", "p"), ("town", "years", "illness"), ())
    assert "keeps" in effect.guarantee
    assert "at least 2 rows" in effect.guarantee


class Fitting(KMap):
    """k-map by another name."""

    kind: ClassVar[str] = "fitting"


def test_people_are_counted_of_the_one_population_that_the_step_claims(tmp_path) -> None:
    (tmp_path / "people.csv").write_text("town,age\na0,3\na1,3\na1,3\na3,25\na3,25\n")
    asked = Fitting.of("first", k=2, attributes=("town", "age"), population=PopulationFile(path="people.csv"))
    other = KMap.of("second", k=2, attributes=("town", "age"), population=PopulationFile(path="absent.csv"))
    people = [("a0", "3", "flu"), ("a1", "3", "no"), ("a3", "25", "hiv")]
    spec = load("anonymizers", "full_domain_recoding")
    effect = spec.effect(spec.params(), Scope("r", FACTS, (asked, other)))
    assert (effect.serves, effect.guarantee) == (
        ("first",),
        "every class fits at least 2 people of the population",
    )
    _, released = fitted("full_domain_recoding", people, asked, other, home=tmp_path, suppression=0)
    assert released["town"].texts() == ["a01", "a01", "a23"]
    assert released["years"].texts() == ["3", "3", "25"]


def test_what_does_not_reach_the_step_is_not_claimed() -> None:
    gone = PSensitive.of("p", "wage", p=2, k=2, attributes=("town", "age"))
    own = PSensitive.of("own", "town", p=2, k=2, attributes=("town", "age"))
    spec = load("anonymizers", "mondrian")
    effect = spec.effect(spec.params(), Scope("r", FACTS, (gone, own)))
    assert (effect.serves, [p.code for p in effect.problems]) == ((), ["PPF780"])
