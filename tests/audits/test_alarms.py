"""Every attack, on releases without a leak and on planted leaks: in one place, and no audit forgotten.

A release without a leak is drawn independent of the original, from the same population; its classes are large. An
attack raises an alarm on one in a thousand of such releases at most. On so many releases, with fixed keys, more alarms
than the limit come in one of ten thousand cases.
"""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import settings
from scipy import stats

from ppdm_flow.anonymizers.genetic_encode.algorithm import encoded
from ppdm_flow.audits.records.proportions import ALARM
from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import sibling
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import listed, load

TABLES = 20 * settings().max_examples // 30
"""A third of them in the quick tier."""
LIMIT = stats.binom.ppf(1 - 1e-4, TABLES, ALARM)
QI, SECRET = Role.QUASI_IDENTIFIER, Role.SENSITIVE
KINDS = HierarchySpec(levels=tuple((f"s{i}", (f"kind{i % 2}", "*")) for i in range(8)))
DOMAIN = ("s0", "s1", "s2", "s3")

ATTACKS = {
    "attribute_disclosure": {},
    "background_knowledge": {"excludes": 2},
    "closest_record": {},
    "complementary_release": {"other": "other.csv"},
    "corruption": {},
    "homogeneity": {},
    "id_recovery": {"attribute": "i"},
    "linkage": {},
    "membership_inference": {},
    "minimality": {"k": 5},
    "rejoin": {"other": "second", "key": "c"},
    "similarity": {},
    "singling_out": {"attempts": 100},
    "unsorted_matching": {},
}
MEASURES = {
    "analyses", "anonymity_score", "blend", "class_sizes", "classification_error", "cluster_analysis",
    "discoverable_support", "distributions", "individual_risk", "information_kept", "information_loss",
    "interval_disclosure",
    "itemset_comparison", "itemset_recovery", "krimp_dissimilarity", "marginals", "numeric_linkage",
    "perturbation_utility", "propensity", "reidentification_risk", "special_uniques", "synthetic_training",
}  # fmt: skip
"""What may be named under `audits:` too, and attacks nobody."""


def measured(name, case, **params):
    spec = load("audits", name)
    return spec.load()(spec.params(**(ATTACKS.get(name, {}) | params))).measure(*case.args)


def codes(outcome):
    return {f.code for f in outcome.findings}


def test_no_attack_is_forgotten():
    named = {p.name for p in listed("audits") if p.built_in}
    free = {n for n in named if not (info := load("audits", n).info).serves or info.standalone}
    assert free == {*ATTACKS, *MEASURES}


def people(rng, rows):
    cells = {n: [f"{n}{x}" for x in rng.integers(0, size, rows)] for n, size in (("a", 3), ("b", 3), ("c", 2))}
    return cells | {"s": [f"s{x}" for x in rng.integers(0, 8, rows)]}


def write(folder, columns):
    with (folder / "other.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([list(columns), *zip(*columns.values(), strict=True)])


def independent(build, rng, folder, rows=400):
    """Rows of nobody, beside the people: a control group, a second release, and another one in a file."""
    original, released = people(rng, rows), people(rng, rows)
    case = build.case(original, released, "qqqs", home=folder, holdout=Holdout(0.5))
    facts = case.ctx.attributes | {"s": AttributeFacts("s", SECRET, source="s", hierarchy=KINDS)}
    write(folder, people(rng, rows) | dict.fromkeys("ab", ["*"] * rows))
    second = build.view({n: people(rng, rows)[n] for n in "cs"}, {"c": QI, "s": SECRET})
    tables = {"candidate": case.candidate.whole, "original": case.original.whole, sibling("second"): second.whole}
    return case.but(attributes=facts, siblings={"second": second}, sql=build.Sql(tables))


def without_ids(build, rng, rows=400):
    """Codes of other ids than the people's."""
    ids, other = rng.permutation(4096)[:rows], rng.permutation(4096)[:rows]
    texts = [{"i": [str(i) for i in x], "a": ["x"] * rows} for x in (ids, encoded(other, 12, 4))]
    return build.case(*texts, {"i": QI, "a": QI})


def perturbed(build, rng, rows=4000, neighbour=False):
    """Each value stays, or is drawn anew; or becomes the neighbour's, which nobody may do."""
    own = rng.integers(0, 4, rows)
    drawn = np.roll(own, -1) if neighbour else rng.integers(0, 4, rows)
    out = np.where(rng.random(rows) < 0.4, own, drawn)
    texts = [{"s": [DOMAIN[v] for v in x]} for x in (own, out)]
    operators = {"s": Operator("s", DOMAIN, np.full(4, 0.4), "perturb")}
    return build.case(*texts, "s", operators=operators, changes={"s": (("perturb", Change.PERTURBED),)})


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize("name", ATTACKS)
def test_a_table_without_leaks_raises_no_alarm(name, build, tmp_path):
    alarms = 0
    for key in range(TABLES):
        rng = np.random.default_rng([3, key])
        if name == "id_recovery":
            case = without_ids(build, rng)
        elif name == "corruption":
            case = perturbed(build, rng)
        else:
            rows = 1200 if name == "complementary_release" else 400  # its groups are a dozen times smaller
            case = independent(build, rng, tmp_path, rows)
        outcome = measured(name, case)
        assert any(f.value is not None for f in outcome.figures.values())
        alarms += bool(outcome.findings)
    assert alarms <= LIMIT


def copied(build, folder):
    """Half of the released rows are training rows, and people differ."""
    rng, rows = np.random.default_rng(1), 2400
    hidden = rng.integers(0, 12, (2, rows))
    draw = [
        np.stack([np.where(rng.random(rows) < 0.5, h, rng.integers(0, 12, rows)) for _ in "abcds"], 1) for h in hidden
    ]
    inside = ~Holdout(0.5).held_out(np.arange(rows))
    released = np.where((rng.random(rows) < 0.5)[:, None], draw[0], draw[1])[inside]
    texts = [{n: [f"v{v}" for v in cells[:, i]] for i, n in enumerate("abcds")} for cells in (draw[0], released)]
    return build.case(*texts, "qqqqs", paired=False, holdout=Holdout(0.5), home=folder)


def as_they_are(build, folder):
    """All rows, unchanged and in their order; one column tells everybody apart."""
    rng = np.random.default_rng(2)
    table = people(rng, 300) | {"b": [str(i) for i in range(300)]}
    write(folder, table)
    return build.case(table, table, "qqqs", home=folder)


def one_value(build, folder):
    """A class of twenty with one illness, among others with all."""
    table = people(np.random.default_rng(3), 400)
    own = [i for i, (a, b) in enumerate(zip(table["a"], table["b"], strict=True)) if (a, b) == ("a0", "b0")]
    secrets = ["s0" if i in own else s for i, s in enumerate(table["s"])]
    return build.case(table | {"s": secrets}, table | {"s": secrets}, "qqqs", home=folder)


def one_kind(build, folder):
    """The same class with four illnesses, all of one kind."""
    case = one_value(build, folder)
    secrets = [f"s{i % 4 * 2}" if s == "s0" else s for i, s in enumerate(case.original.whole["s"].texts())]
    table = {n: case.original.whole[n].texts() for n in "abc"} | {"s": secrets}
    facts = case.ctx.attributes | {"s": AttributeFacts("s", SECRET, source="s", hierarchy=KINDS)}
    return build.case(table, table, "qqqs", attributes=facts)


def two_values(build, folder):
    """The same class with two illnesses: who can rule out one knows the other."""
    case = one_value(build, folder)
    secrets = [f"s{i % 2}" if s == "s0" else s for i, s in enumerate(case.original.whole["s"].texts())]
    table = {n: case.original.whole[n].texts() for n in "abc"} | {"s": secrets}
    return build.case(table, table, "qqqs")


def merged(build, _folder):
    """Wong and others, 2007: groups are merged only since two of one have HIV."""
    original = {"q": ["q1"] * 2 + ["q2"] * 4, "s": ["HIV"] * 2 + ["flu", "cut", "burn", "cold"]}
    return build.case(original, {**original, "q": ["Q"] * 6}, "qs")


def invertible(build, _folder):
    ids = np.random.default_rng(4).permutation(4096)[:300]
    texts = [{"i": [str(i) for i in x], "a": ["x"] * 300} for x in (ids, encoded(ids, 12, 4))]
    return build.case(*texts, {"i": QI, "a": QI})


def one_order(build, _folder):
    """Two files of one partition, in one order."""
    rng = np.random.default_rng(5)
    whole = {"a": [str(i) for i in range(400)], "c": [f"c{x}" for x in rng.integers(0, 20, 400)]}
    whole["s"] = [f"s{x}" for x in rng.integers(0, 8, 400)]
    case = build.case(whole, {n: whole[n] for n in "ac"}, {"a": QI, "c": QI, "s": SECRET})
    second = build.view({n: whole[n] for n in "cs"}, {"c": QI, "s": SECRET})
    tables = {"candidate": case.candidate.whole, "original": case.original.whole, sibling("second"): second.whole}
    return replace(case, ctx=replace(case.ctx, siblings={"second": second}, sql=build.Sql(tables)))


def crossing(build, folder):
    """Classes by one attribute here, by another there: each is large, and the intersections are not."""
    rng = np.random.default_rng(6)
    table = {n: [f"{n}{x}" for x in rng.integers(0, 16, 400)] for n in "ab"} | {"s": ["s0", "s1"] * 200}
    order = rng.permutation(400)
    write(folder, {"a": ["*"] * 400, "b": [table["b"][i] for i in order], "s": [table["s"][i] for i in order]})
    return build.case(table, table | {"b": ["*"] * 400}, "qqs", home=folder)


def dependent(build, _folder):
    return perturbed(build, np.random.default_rng(7), 20_000, neighbour=True)


PLANTED = [
    ("copied rows", copied, "closest_record", {}, "PPF860"),
    ("copied rows", copied, "membership_inference", {}, "PPF862"),
    ("copied rows", copied, "attribute_disclosure", {}, "PPF863"),
    ("copied rows", copied, "singling_out", {"attempts": 2000}, "PPF897"),
    ("rows as they are", as_they_are, "linkage", {}, "PPF890"),
    ("an unshuffled release", as_they_are, "unsorted_matching", {}, "PPF894"),
    ("two files in one order", one_order, "rejoin", {}, "PPF887"),
    ("a homogeneous class", one_value, "homogeneity", {}, "PPF892"),
    ("a homogeneous class", one_value, "linkage", {}, "PPF890"),
    ("a class of one kind", one_kind, "similarity", {}, "PPF896"),
    ("a class of two values", two_values, "background_knowledge", {"excludes": 1}, "PPF893"),
    ("a class merged for its values", merged, "minimality", {"k": 1, "values": {"s": ("HIV",)}}, "PPF895"),
    ("an invertible id", invertible, "id_recovery", {}, "PPF888"),
    ("two releases that cross", crossing, "complementary_release", {}, "PPF899"),
    ("values of neighbours", dependent, "corruption", {}, "PPF851"),
]


@pytest.mark.parametrize(("leak", "plant", "name", "params", "code"), PLANTED, ids=[f"{p[0]}-{p[2]}" for p in PLANTED])
def test_a_planted_leak_is_found(leak, plant, name, params, code, build, tmp_path):
    assert code in codes(measured(name, plant(build, tmp_path), **params)), leak


def test_every_attack_finds_some_planted_leak():
    assert {name for _, _, name, _, _ in PLANTED} == set(ATTACKS)


@pytest.mark.parametrize(
    ("plant", "requirement", "measured_value"),
    [
        (one_value, LDiversity.of("r", "s", l=2, attributes=("a", "b", "c")), 1),
        (as_they_are, KAnonymity.of("r", k=2, attributes=("a", "b", "c")), 1),
    ],
    ids=["a homogeneous class", "rows as they are"],
)
def test_requirements_find_them_too(plant, requirement, measured_value, build, tmp_path, agree):
    case = plant(build, tmp_path).but(requirements=(requirement,))
    spec = load("audits", requirement.kind)
    audit = spec.load()(spec.params())
    agree(audit, case)
    (found,) = audit.measure(*case.args).measured
    assert found.figure.value == measured_value
    assert found.bound == 2
