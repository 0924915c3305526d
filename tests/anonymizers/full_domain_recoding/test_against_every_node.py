"""What the step releases costs no more than the best of all nodes, and keeps what was asked, counted anew."""

from __future__ import annotations

import importlib.util
import itertools
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.full_domain_recoding.algorithm import FullDomainRecoding
from ppdm_flow.anonymizers.full_domain_recoding.spec import RecodingParams
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

_PLAIN = Path(__file__).parents[2] / "mining/recoding/plain.py"
_SPEC = importlib.util.spec_from_file_location("plain_recoding_of_plugin", _PLAIN)
plain = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(plain)

COSTS = ("loss", "ncp", "precision", "discernibility", "average_class_size", "entropy")
QI = ("a", "b")


def requirement(kind, number):
    match kind:
        case "distinct":
            return LDiversity.of("privacy.l_diversity.s", "s", l=number, attributes=QI)
        case "entropy":
            return LDiversity.of("privacy.l_diversity.s", "s", l=number, attributes=QI, variant=Diversity.ENTROPY)
        case "recursive":
            return LDiversity.of(
                "privacy.l_diversity.s", "s", l=2, attributes=QI, variant=Diversity.RECURSIVE, c=number
            )
        case "equal":
            return TCloseness.of("privacy.t_closeness.s", "s", t=number, attributes=QI)
        case "ordered":
            order = ("s0", "s1", "s2")
            ordered = Distance.ORDERED
            return TCloseness.of("privacy.t_closeness.s", "s", t=number, attributes=QI, distance=ordered, order=order)
        case "alpha":
            return AlphaK.of("privacy.alpha_k.s", "s", alpha=number, attributes=QI)
        case "delta":
            return DeltaDisclosure.of("privacy.delta_disclosure.s", "s", delta=number, attributes=QI)
        case "beta":
            return BetaLikeness.of("privacy.beta_likeness.s", "s", beta=number, attributes=QI)
    raise AssertionError(kind)


asked = st.one_of(
    st.tuples(st.just("distinct"), st.integers(2, 3)),
    st.tuples(st.just("entropy"), st.floats(1.2, 2.8)),
    st.tuples(st.just("recursive"), st.floats(0.8, 3.0)),
    st.tuples(st.just("equal"), st.floats(0.05, 0.6)),
    st.tuples(st.just("ordered"), st.floats(0.05, 0.6)),
    st.tuples(st.just("alpha"), st.floats(0.35, 0.9)),
    st.tuples(st.just("delta"), st.floats(0.2, 2.5)),
    st.tuples(st.just("beta"), st.floats(0.2, 2.5)),
)
HIERARCHIES = {
    "a": (("a0", ("a01", "*")), ("a1", ("a01", "*")), ("a2", ("a23", "*")), ("a3", ("a23", "*"))),
    "b": (("b0", ("*",)), ("b1", ("*",)), ("b2", ("*",))),
}
LEAVES = {name: [v for v, _ in lines] for name, lines in HIERARCHIES.items()}
FACTS = {
    **{n: AttributeFacts(n, Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(levels=h)) for n, h in HIERARCHIES.items()},
    "s": AttributeFacts("s", Role.SENSITIVE),
}


def coded(levels):
    """Codes of the leaves at each level."""
    out = [list(range(len(levels)))]
    for at in range(len(levels[0][1])):
        names = sorted({above[at] for _, above in levels})
        out.append([names.index(above[at]) for _, above in levels])
    return out


def twin(rows):
    """The table for the plain twin; values of the sensitive attribute that do not occur do not count."""
    used = sorted({s for _, _, s in rows})
    cells = [((LEAVES["a"].index(a), LEAVES["b"].index(b)), used.index(s), 0) for a, b, s in rows]
    return plain.Table(cells, [coded(HIERARCHIES[n]) for n in QI], len(used))


def numbers(kind, number):
    return ("recursive", number, 2) if kind == "recursive" else (kind, number)


def fitted(rows, requirements, **params):
    table = Table.of({"a": [r[0] for r in rows], "b": [r[1] for r in rows], "s": [r[2] for r in rows]})
    view = InMemoryView.of(table, {"s": Role.SENSITIVE})
    found = FullDomainRecoding(RecodingParams.model_validate(params)).fit(view, StepContext("r", FACTS, requirements))
    return found, run(found.transform, table, partition_rows=7)[""]


rows_of = st.lists(
    st.tuples(st.sampled_from(LEAVES["a"]), st.sampled_from(LEAVES["b"]), st.sampled_from(["s0", "s1", "s2"])),
    min_size=2,
    max_size=40,
)


def holds(released, kind, number, k):
    texts = [released[n].texts() for n in ("a", "b", "s")]
    used = sorted(set(texts[2]))
    classes = defaultdict(list)
    for a, b, s in zip(*texts, strict=True):
        classes[a, b].append((None, used.index(s), 0))
    every = [r for c in classes.values() for r in c]
    base = plain.shares(every, len(used))
    models = [numbers(kind, number), ("k", k)]
    return all(plain.keeps(m, c, base, len(used)) for m in models for c in classes.values())


@pytest.mark.parametrize("cost", COSTS)
@given(rows=rows_of, model=asked, k=st.integers(2, 4), share=st.sampled_from([0.0, 0.1, 0.4]))
def test_the_release_costs_what_the_best_node_costs(cost, rows, model, k, share) -> None:
    models = [numbers(*model), ("k", k)]
    best = plain.optimum(twin(rows), models, cost, int(share * len(rows) + 1e-9), True)
    requirements = (KAnonymity.of("privacy.k_anonymity", k=k, attributes=QI), requirement(*model))
    if best is None:
        with pytest.raises(PluginError) as raised:
            fitted(rows, requirements, cost=cost, suppression=share)
        assert raised.value.diagnostics[0].code == "PPF806"
        return
    found, released = fitted(rows, requirements, cost=cost, suppression=share)
    assert found.figures["cost"].value == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert found.figures["optimum_proven"].value == 1
    assert len(released) == len(rows) - found.figures["suppressed_rows"].value
    assert holds(released, *model, k)


@given(rows=rows_of, model=asked, k=st.integers(2, 4), share=st.sampled_from([0.1, 0.4]))
def test_suppressed_cells_are_a_class_that_keeps_what_was_asked_or_are_dropped(rows, model, k, share) -> None:
    requirements = (KAnonymity.of("privacy.k_anonymity", k=k, attributes=QI), requirement(*model))
    try:
        found, released = fitted(rows, requirements, suppress="cells", suppression=share)
    except PluginError:  # no levels are good enough: the test above says when
        return
    assert holds(released, *model, k)
    dropped = len(rows) - len(released)
    assert dropped in (0, found.figures["suppressed_rows"].value)
    assert [f.code for f in found.findings] == (["PPF738"] if dropped else [])
    if not dropped:
        marks = Counter(released["a"].texts())["⊥"]
        assert marks == Counter(released["b"].texts())["⊥"] == found.figures["suppressed_rows"].value


@given(rows=rows_of, c=st.floats(0.4, 0.9), k=st.integers(2, 3))
def test_lkc_over_all_its_attributes_is_enforced(rows, c, k) -> None:
    asked_for = LKC.of("privacy.lkc", l=2, k=k, attributes=QI, c=c, sensitive=by_attribute((("s", "s0"), ("s", "s1"))))
    try:
        _, released = fitted(rows, (asked_for,), suppression=0.5)
    except PluginError:
        return
    rows_left = list(zip(*(released[n].texts() for n in ("a", "b", "s")), strict=True))
    for size in (0, 1, 2):
        for places in itertools.combinations(range(2), size):
            groups = defaultdict(list)
            for row in rows_left:
                groups[tuple(row[p] for p in places)].append(row[2])
            for values in groups.values():
                assert len(values) >= k
                assert max(values.count("s0"), values.count("s1")) <= c * len(values) + 1e-9


def test_two_sensitive_attributes_at_once() -> None:
    rows = [(a, b, s) for a in LEAVES["a"] for b in LEAVES["b"] for s in ("s0", "s1")]
    table = Table.of({**{n: [r[i] for r in rows] for i, n in enumerate(("a", "b", "s"))}, "t": ["t0", "t0", "t1"] * 8})
    facts = {**FACTS, "t": AttributeFacts("t", Role.SENSITIVE)}
    wanted = (
        LDiversity.of("l.s", "s", l=2, attributes=QI),
        LDiversity.of("l.t", "t", l=2, attributes=QI),
        KAnonymity.of("k", k=2, attributes=QI),
    )
    found = FullDomainRecoding(RecodingParams(suppression=0.0)).fit(
        InMemoryView.of(table), StepContext("r", facts, wanted)
    )
    released = run(found.transform, table)[""]
    classes = defaultdict(set)
    for a, b, s, t in zip(*(released[n].texts() for n in ("a", "b", "s", "t")), strict=True):
        classes[a, b].update((s, t))
    assert all({"s0", "s1", "t0", "t1"} <= values for values in classes.values())
