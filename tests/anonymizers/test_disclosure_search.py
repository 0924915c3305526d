"""The search against the paper's example, and against a twin that recomputes everything from the records."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ppdm_flow.anonymizers.progressive_disclosure.problem import DisclosureTask, encode
from ppdm_flow.anonymizers.progressive_disclosure.search import Disclosure, DisclosureSearch
from ppdm_flow.anonymizers.progressive_disclosure.spec import channels, sensitive
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView


def search(view, templates, *, useless=False, nulls=Nulls.OWN_CATEGORY, suppressible=None):
    targets = view.schema.having(Role.TARGET)
    names = channels(templates) if suppressible is None else suppressible
    counts = view.counts(tuple(dict.fromkeys((*channels(templates), *sensitive(templates), *targets))))
    problem = encode(counts, DisclosureTask(templates, names, targets, nulls=nulls))
    found = DisclosureSearch(problem, useless=useless)
    steps = found.run()
    return [(names[d.attribute], problem.attributes[d.attribute].tree.labels[d.node]) for d in steps], steps, found


def test_one_template_of_the_paper(papers):
    order, steps, found = search(papers.bank(), (papers.discharged("t", 0.75, "Job", "Country"),))
    assert [v for _, v in order] == ["Cook", "Artist", "Doctor", "US", "France"]
    first = steps[0]
    assert (round(first.gain, 4), round(first.loss, 4), round(first.score, 4)) == (0.2784, 0.0417, 0.2672)
    assert found.confidences(0).tolist() == [0.5]


def test_two_templates_of_the_paper(papers):
    wanted = (papers.discharged("a", 0.5, "Job", "Country"), papers.discharged("b", 0.5, "Job", "Child"))
    order, _, found = search(papers.bank(), wanted)
    assert [v for _, v in order] == ["Cook", "Artist", "Doctor", "US", "France", "No", "Yes"]
    assert [found.confidences(c).tolist() for c in range(2)] == [[0.5], [0.5]]


def test_it_begins_with_the_most_suppressed_table(papers):
    wanted = (papers.discharged("a", 0.5, "Job", "Country"), papers.discharged("b", 0.5, "Job", "Child"))
    _, steps, _ = search(papers.bank(), wanted)
    assert steps[0].loss == pytest.approx(5 / 20 - 5 / 24)


def test_the_groups_of_the_papers_trees(papers):
    """Disclosing Clerk gives 4/20 and 1/4 in both; Canada then splits the first tree's 4/20 into 4/19 and 0/1."""
    wanted = (papers.discharged("a", 0.5, "Job", "Country"), papers.discharged("b", 0.5, "Job", "Child"))
    counts = papers.bank().counts(("Job", "Country", "Child", "Bankruptcy", "rating"))
    problem = encode(counts, DisclosureTask(wanted, ("Job", "Country", "Child"), ("rating",)))
    found = DisclosureSearch(problem)

    def shares():
        trees = (zip(*(x.tolist() for x in found.groups(channel)), strict=True) for channel in range(2))
        return [sorted((h[0], n) for n, h in tree) for tree in trees]

    def disclose(attribute, value):
        node = problem.attributes[attribute].tree.labels.index(value)
        found.disclose(Disclosure(attribute, node, 0.0, 0.0, 0.0))

    assert shares() == [[(5, 24)], [(5, 24)]]
    disclose(0, "Clerk")
    assert shares() == [[(1, 4), (4, 20)], [(1, 4), (4, 20)]]
    disclose(1, "Canada")
    assert shares() == [[(0, 1), (1, 4), (4, 19)], [(1, 4), (4, 20)]]


def test_row_order_does_not_matter(papers):
    view = papers.bank()
    wanted = (papers.discharged("a", 0.5, "Job", "Country"), papers.discharged("b", 0.5, "Job", "Child"))
    expected, _, _ = search(view, wanted)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(view.whole))
        assert search(InMemoryView(view.whole.take(order), view.schema, 3), wanted)[0] == expected


def test_several_sensitive_values_are_several_templates(papers):
    pairs = (("Bankruptcy", "Discharged"), ("Bankruptcy", "Never"))
    one = (InferenceTemplate.of("t", "t", channel=("Job", "Country"), sensitive=by_attribute(pairs), confidence=0.6),)
    two = tuple(
        InferenceTemplate.of(v, v, channel=("Job", "Country"), sensitive=by_attribute(((a, v),)), confidence=0.6)
        for a, v in pairs
    )
    assert search(papers.bank(), one)[0] == search(papers.bank(), two)[0]


def test_valid_discloses_what_is_useless_too(papers):
    wanted = (papers.discharged("t", 0.75, "Job", "Country"),)
    order, _, found = search(papers.bank(), wanted, useless=True)
    assert [v for _, v in order][5:] == ["Clerk", "Trader"]  # Trader alone: 4 of 6
    assert found.confidences(0).tolist() == [pytest.approx(4 / 6)]


def test_attributes_that_may_not_be_suppressed_split_the_groups_from_the_start(papers):
    wanted = (papers.discharged("t", 0.75, "Job", "Child"),)
    order, _, found = search(papers.bank(), wanted, suppressible=("Job",))
    assert {a for a, _ in order} == {"Job"}
    assert found.groups(0)[0].sum() == 24


def test_no_suppressed_value_could_be_disclosed_without_violation():
    """The outcome is maximal: checked over all remaining values by counting records."""
    rng = np.random.default_rng(11)
    table = Table.of({n: rng.choice(list("abcd"), 300).tolist() for n in ("A", "B", "S")})
    wanted = (
        InferenceTemplate.of("t", "t", channel=("A", "B"), sensitive=by_attribute((("S", "a"),)), confidence=0.3),
    )
    order, _, _ = search(InMemoryView.of(table), wanted)
    shown = {a: {v for b, v in order if b == a} for a in ("A", "B")}
    cells = {n: np.array(table[n].texts()) for n in table.names}

    def worst(shown):
        masked = [np.where(np.isin(cells[a], list(shown[a])), cells[a], "⊥") for a in ("A", "B")]
        groups = np.array([x + y for x, y in zip(*masked, strict=True)])
        return max((cells["S"][groups == g] == "a").mean() for g in np.unique(groups))

    assert worst(shown) <= 0.3 + 1e-9
    for a, v in itertools.product(("A", "B"), "abcd"):
        if v not in shown[a]:
            assert worst({**shown, a: shown[a] | {v}}) > 0.3
