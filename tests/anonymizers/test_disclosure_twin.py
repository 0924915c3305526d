"""The search, disclosure by disclosure, against a twin that writes every table out and counts it anew."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.anonymizers.progressive_disclosure import algorithm
from ppdm_flow.anonymizers.progressive_disclosure import search as greedy_search
from ppdm_flow.anonymizers.progressive_disclosure.algorithm import infeasible, needed
from ppdm_flow.anonymizers.progressive_disclosure.problem import DisclosureTask, encode
from ppdm_flow.anonymizers.progressive_disclosure.search import DisclosureSearch
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

TOLERANCE = 1e-9
NEGLIGIBLE = 1e-12
TOP = "⊥"


@dataclass(frozen=True)
class Rule:
    """Over ``channel``: at most ``bound`` of any group has (negated: has not) the value; no group below ``least``."""

    channel: tuple[str, ...]
    name: str = ""
    value: str | None = None
    bound: float = 1.0
    negated: bool = False
    least: int = 1

    @property
    def counts(self) -> bool:
        return self.name != ""


@dataclass
class Twin:
    """``records`` are rows; ``paths[attribute][value]`` the labels from the top down to the value itself."""

    records: Sequence[Mapping[str, str | None]]
    attributes: Sequence[str]
    rules: Sequence[Rule]
    classes: bool
    useless: bool = False
    paths: Mapping[str, Mapping[str | None, tuple]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shown: dict[str, set[tuple]] = {a: set() for a in self.attributes}
        self.order: list[tuple[str, tuple]] = []
        self.below = {a: {r[a]: self.path(a, r[a]) for r in self.records} for a in self.attributes}

    def path(self, a: str, value: str | None) -> tuple:
        """The nodes on the way down to a value: tuples of labels; ⊥ has none, and is never left."""
        if value == TOP:
            return ()
        labels = self.paths.get(a, {}).get(value, (value,)) if value is not None else (None,)
        return tuple(labels[: i + 1] for i in range(len(labels)))

    def cell(self, record: Mapping[str, str | None], a: str, shown: Mapping[str, set[tuple]]) -> object:
        if a not in self.attributes:
            return record[a]
        at: tuple = ()
        for node in self.below[a][record[a]]:
            if node not in shown[a]:
                break
            at = node
        return at

    def groups(self, rule: Rule, shown: Mapping[str, set[tuple]]) -> list[list[Mapping[str, str | None]]]:
        found: dict[tuple, list[Mapping[str, str | None]]] = {}
        for r in self.records:
            found.setdefault(tuple(self.cell(r, a, shown) for a in rule.channel), []).append(r)
        return list(found.values())

    def confidence(self, rule: Rule, shown: Mapping[str, set[tuple]]) -> float:
        return max(
            (sum((r[rule.name] == rule.value) != rule.negated for r in g) / len(g) for g in self.groups(rule, shown)),
            default=0.0,
        )

    def holds(self, shown: Mapping[str, set[tuple]]) -> bool:
        for rule in self.rules:
            if rule.counts and self.confidence(rule, shown) > rule.bound + TOLERANCE:
                return False
            if any(len(g) < rule.least for g in self.groups(rule, shown)):
                return False
        return True

    def shelf(self, a: str, node: tuple) -> list[Mapping[str, str | None]]:
        """The rows that are shown as the node's parent."""
        return [r for r in self.records if self.cell(r, a, self.shown) == node[:-1]]

    def open_nodes(self, a: str) -> list[tuple]:
        """Undisclosed nodes whose parent is disclosed, in tree order: by label, the missing value last."""
        every = {node for path in self.below[a].values() for node in path}
        found = [n for n in every if n not in self.shown[a] and (len(n) == 1 or n[:-1] in self.shown[a])]
        return sorted(found, key=lambda n: (n[-1] is None, [str(label).encode() for label in n]))

    def inside(self, a: str, node: tuple, rows: Sequence[Mapping[str, str | None]]) -> list:
        return [r for r in rows if node in self.below[a][r[a]]]

    def gain(self, a: str, node: tuple) -> float:
        rows = self.shelf(a, node)
        part = self.inside(a, node, rows)
        rest = [r for r in rows if node not in self.below[a][r[a]]]
        if not self.classes:
            return bits([1] * len(part) + [0] * len(rest))
        split = sum(len(p) / len(rows) * bits([r["class"] for r in p]) for p in (part, rest) if p)
        return bits([r["class"] for r in rows]) - split

    def hopeful(self, a: str, node: tuple) -> bool:
        """Whether some split below the node tells something."""
        rows = self.inside(a, node, self.records)
        children = {p[len(node)] for r in rows if len(p := self.below[a][r[a]]) > len(node)}
        if not children:
            return False
        parts = [self.inside(a, c, rows) for c in children]
        if self.classes:
            within = sum(len(p) / len(rows) * bits([r["class"] for r in p]) for p in parts)
            tells = bits([r["class"] for r in rows]) - within > NEGLIGIBLE
        else:
            tells = len(parts) > 1
        return tells or any(self.hopeful(a, c) for c in children)

    def run(self) -> list[tuple[str, tuple]]:
        while (best := self.best()) is not None:
            self.order.append(best)
            self.shown[best[0]].add(best[1])
        return self.order

    def best(self) -> tuple[str, tuple] | None:
        counted = [r for r in self.rules if r.counts]
        before = [self.confidence(r, self.shown) for r in counted]
        rated = []
        for a in self.attributes:
            for node in self.open_nodes(a):
                then = {**self.shown, a: self.shown[a] | {node}}
                if not self.holds(then):
                    continue
                worth = self.gain(a, node)
                alone = len(self.inside(a, node, self.records)) == len(self.shelf(a, node))
                if worth <= NEGLIGIBLE and not (self.useless or alone or self.hopeful(a, node)):
                    continue
                rises = [self.confidence(r, then) - x for r, x in zip(counted, before, strict=True) if a in r.channel]
                loss = sum(rises) / len(rises) if rises else 0.0
                rated.append((max(0.0, worth) / (loss + 1), a, node))
        if not rated:
            return None
        top = max(score for score, _, _ in rated)
        return next((a, n) for score, a, n in rated if score >= top - NEGLIGIBLE)

    def kept(self) -> float:
        """The information in the disclosed table, in bits a row, summed over attributes."""
        found = 0.0
        for a in self.attributes:
            cells = [self.cell(r, a, self.shown) for r in self.records]
            if not self.classes:
                found += bits(cells)
                continue
            whole = [r["class"] for r in self.records]
            found += bits(whole)
            for label in set(cells):
                part = [c for c, at in zip(whole, cells, strict=True) if at == label]
                found -= len(part) / len(whole) * bits(part)
        return found


def bits(labels: Sequence[object]) -> float:
    """Return the entropy of a list."""
    counts = [labels.count(c) for c in dict.fromkeys(labels)]
    return -sum(c / len(labels) * math.log2(c / len(labels)) for c in counts)


ROW = st.tuples(
    st.sampled_from([*"abcd", None]), st.sampled_from([*"wxyz", TOP]), st.sampled_from("pq"), st.sampled_from("stu"),
    st.sampled_from([*"mn", None]), st.sampled_from("GB"), st.integers(0, 4),
)  # fmt: skip
NAMES = ("A", "B", "C", "S", "T", "class", "n")
PATHS = {
    "A": {"a": ("1", "11", "a"), "b": ("1", "11", "b"), "c": ("1", "12", "c"), "d": ("2", "21", "d")},
    "B": {"w": ("0", "w"), "x": ("0", "x"), "y": ("9", "y"), "z": ("9", "z")},
}
HIERARCHIES = {
    a: HierarchySpec(levels=tuple((v, (*path[-2::-1], "*")) for v, path in paths.items())) for a, paths in PATHS.items()
}
TEMPLATE = st.tuples(
    st.sets(st.sampled_from("ABC"), min_size=1),
    st.sampled_from([("S", "s"), ("S", "t"), ("T", "m")]),
    st.sampled_from([0.4, 0.6, 0.67, 0.8, 0.9]),
    st.sampled_from([False, False, True]),
    st.sampled_from([1, 1, 1, 2, 3]),
)


@dataclass(frozen=True)
class Case:
    view: InMemoryView
    records: list
    templates: tuple[InferenceTemplate, ...]
    floors: tuple[KAnonymity, ...]
    suppressible: tuple[str, ...]
    graded: tuple[str, ...]
    classes: bool
    useless: bool

    @property
    def task(self) -> DisclosureTask:
        own = {a: HIERARCHIES[a] for a in self.graded}
        return DisclosureTask(self.templates, self.suppressible, ("class",) if self.classes else (), self.floors, own)

    @property
    def problem(self):
        return encode(self.view.counts(("A", "B", "C", "S", "T", "class")), self.task)

    @property
    def twin(self) -> Twin:
        rules = [Rule(t.channel, *t.pairs[0], t.confidence, t.negated, t.smallest_group) for t in self.templates] + [
            Rule(k.attributes, least=k.k) for k in self.floors
        ]
        paths = {a: PATHS[a] for a in self.graded}
        return Twin(self.records, self.suppressible, rules, self.classes, self.useless, paths)


@st.composite
def cases(draw):
    rows = draw(st.lists(ROW, min_size=1, max_size=20))
    columns = {n: [str(r[i]) if n == "n" else r[i] for r in rows] for i, n in enumerate(NAMES)}
    view = InMemoryView.of(Table.of(columns), {"n": Role.WEIGHT, "class": Role.TARGET}, partition_rows=5)
    k = draw(st.sampled_from([0, 0, 2, 3]))
    drawn = draw(st.lists(TEMPLATE, min_size=0 if k else 1, max_size=3))
    templates = tuple(
        InferenceTemplate.of(
            f"t{i}",
            f"t{i}",
            channel=tuple(sorted(channel)),
            sensitive=by_attribute((pair,)),
            confidence=bound,
            negated=negated,
            min_support=least,
        )
        for i, (channel, pair, bound, negated, least) in enumerate(drawn)
    )
    union = dict.fromkeys(a for t in templates for a in t.channel)
    fixed = draw(st.sampled_from(["", "", "C"]))
    suppressible = tuple(a for a in (*union, *(("A", "B") if k else ())) if a != fixed)
    return Case(
        view,
        [dict(zip(NAMES, r, strict=True)) for r in rows for _ in range(r[6])],
        templates,
        (KAnonymity.of("k", k=k, attributes=("A", "B")),) if k else (),
        tuple(dict.fromkeys(suppressible)),
        tuple(a for a in draw(st.sampled_from(["", "A", "AB"])) if a in suppressible),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def order_of(search: DisclosureSearch, found=None) -> list[tuple[str, tuple]]:
    """Disclosures as (attribute, labels from the top down)."""
    attributes = search.problem.attributes
    result = []
    for d in search.disclosures if found is None else found:
        tree, labels, node = attributes[d.attribute].tree, (), d.node
        while node >= 0:
            labels, node = (tree.labels[node], *labels), int(tree.parent[node])
        result.append((attributes[d.attribute].name, labels))
    return result


@contextmanager
def few_are_many(alike):
    """Look for values that are alike in small attributes too."""
    with mock.patch.object(greedy_search, "MANY_VALUES", 1 if alike else 1_000):
        yield


@pytest.mark.slow
@examples(150)
@given(case=cases(), alike=st.booleans())
def test_equals_the_twin_disclosure_by_disclosure(case, alike):
    with few_are_many(alike):
        search, twin = DisclosureSearch(case.problem, useless=case.useless), case.twin
    broken = infeasible(search)
    assert bool(broken) == (not twin.holds(twin.shown))
    if broken:
        return
    search.run()
    assert order_of(search) == twin.run()
    rules = iter(r for r in twin.rules if r.counts)
    by_id = {
        t.id: confidence
        for place, channel in enumerate(case.problem.channels)
        for t, confidence in zip(channel.templates, search.confidences(place).tolist(), strict=True)
    }
    for template in case.templates:
        assert by_id[template.id] == pytest.approx(twin.confidence(next(rules), twin.shown), abs=1e-12)
    for rule in twin.rules:
        sizes = sorted(len(g) for g in twin.groups(rule, twin.shown))
        assert any(
            {case.suppressible[a] for a in channel.attributes} == set(rule.channel) & set(case.suppressible)
            and set(rule.channel) - set(case.suppressible) <= {"C"}
            and sorted(search.groups(place)[0].tolist()) == sizes
            for place, channel in enumerate(case.problem.channels)
        )
    assert search.kept == pytest.approx(twin.kept(), abs=1e-9)


@examples(20)
@given(case=cases(), width=st.integers(2, 4), ahead=st.booleans(), alike=st.booleans())
def test_a_beam_is_never_worse_than_greedy_and_stays_valid(case, width, ahead, alike):
    with few_are_many(alike):
        search = DisclosureSearch(case.problem, useless=case.useless)
    if infeasible(search):
        return
    greedy = DisclosureSearch(case.problem, useless=case.useless)
    greedy.run()
    found = algorithm.run(search, width, ahead=ahead)
    assert found.greedy == greedy.kept
    assert found.kept >= found.greedy
    twin = case.twin
    for attribute, node in order_of(search, found.disclosures):
        twin.shown[attribute].add(node)
        assert twin.holds(twin.shown)
    assert twin.best() is None
    assert twin.kept() == pytest.approx(found.kept, abs=1e-9)
    again = algorithm.run(DisclosureSearch(case.problem, useless=case.useless), width, ahead=ahead)
    assert again.disclosures == found.disclosures  # with values that are alike or without


def test_alike_values_are_found_and_no_others():
    rows = [("a1", "u"), ("a2", "u"), ("a3", "v"), ("a4", "u"), ("a4", "v"), ("a5", "v"), ("a5", "u"), ("a6", "u")]
    rows += [("a7", "u"), ("a8", "u"), ("a9", "u"), ("a9", "u"), ("b1", "v"), ("b1", "v")]
    columns = {"A": [a for a, _ in rows], "B": [b for _, b in rows]}
    columns |= {"S": ["s"] * 7 + ["t"] + ["s"] * 6, "class": ["G"] * 10 + ["H"] * 4}
    view = InMemoryView.of(Table.of(columns), {"class": Role.TARGET})
    template = InferenceTemplate.of("t", "t", channel=("A", "B"), sensitive=by_attribute((("S", "s"),)), confidence=1.0)
    problem = encode(view.counts(tuple(columns)), DisclosureTask((template,), ("A", "B"), ("class",)))
    names = [label for attribute in problem.attributes for label in attribute.tree.labels]

    def kinds(*, marked):
        shelves = DisclosureSearch(problem).shelves
        members = np.split(shelves.members, shelves.kind_begin[1:-1])
        chosen = (shelves.stride > 1) == marked
        return [{names[y] for y in own} for own, wanted in zip(members, chosen, strict=True) if wanted]

    with few_are_many(True):
        found, others = kinds(marked=True), kinds(marked=False)
    assert sorted(map(sorted, found)) == [["a1", "a2", "a7", "a8"], ["a3"], ["a4", "a5"], ["a6"]]
    assert {"a9", "b1"} in others  # of equal counts, each of its own make
    assert kinds(marked=True) == []


@examples(30)
@given(case=cases())
def test_templates_left_out_are_implied(case):
    """Lemma 3.1: they hold after every disclosure of the search without them."""
    kept, left_out = needed(case.templates)
    twin = case.twin
    if not twin.holds(twin.shown):
        return
    problem = encode(
        case.view.counts(("A", "B", "C", "S", "T", "class")),
        DisclosureTask(kept, case.suppressible, case.task.targets, case.floors, case.task.hierarchies),
    )
    search = DisclosureSearch(problem, useless=True)
    search.run()
    for attribute, node in order_of(search):
        twin.shown[attribute].add(node)
    assert twin.holds(twin.shown)
    assert len(left_out) + len(kept) >= len(case.templates)
