"""What must hold of classes holds as well inside of the groups that all releases together leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.history import EarlierRelease, Membership, ReleaseHistory
from ppdm_flow.sdk.registry import load

QI = ("p", "q")
REQUIREMENTS = (
    LDiversity.of("r", "s", l=2, attributes=QI),
    LDiversity.of("r", "s", l=1.8, attributes=QI, variant=Diversity.ENTROPY),
    LDiversity.of("r", "s", l=2, attributes=QI, variant=Diversity.RECURSIVE, c=1.5),
    TCloseness.of("r", "s", t=0.3, attributes=QI),
    TCloseness.of("r", "s", t=0.3, attributes=QI, distance=Distance.ORDERED),
    AlphaK.of("r", "s", alpha=0.5, attributes=QI, values=("1", "2")),
    DeltaDisclosure.of("r", "s", delta=1.0, attributes=QI),
    BetaLikeness.of("r", "s", beta=1.0, attributes=QI),
)
PEOPLE = [f"p{i}" for i in range(8)]
ROW = st.tuples(
    st.sampled_from(PEOPLE),
    st.sampled_from([None, "⊥", "a", "b"]),
    st.sampled_from([None, "a"]),
    st.sampled_from([None, "⊥", "1", "2", "10"]),
)
EARLIER = st.dictionaries(st.sampled_from([*PEOPLE, "x", "y"]), st.sampled_from("abc"), min_size=1)


def audit(requirement):
    spec = load("audits", requirement.kind)
    return spec.load()(spec.params())


def hashed(texts):
    return np.array([t.encode() for t in texts], dtype="S32")


def members(classes: dict[str, str]) -> Membership:
    return Membership(hashed(classes), hashed(classes.values()))


def history(people: list[str], *earlier: dict[str, str]) -> ReleaseHistory:
    subjects, places = np.unique(hashed(people), return_inverse=True)
    own = Membership(subjects, subjects, places=places.astype(np.int64))
    return ReleaseHistory(
        own, tuple(EarlierRelease(f"no. {i + 1}", frozenset(), members(e)) for i, e in enumerate(earlier))
    )


def shown(outcome):
    return {m.metric: m for m in outcome.measured}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda r: f"{r.kind}-{REQUIREMENTS.index(r)}")
@examples(10)
@given(rows=st.lists(ROW, max_size=14), earlier=st.lists(EARLIER, max_size=3), nulls=st.sampled_from(Nulls))
def test_it_is_one_more_column_that_others_know(requirement, rows, earlier, nulls, build, agree):
    """The twin: the plain audit of a release that has for each row the classes of its person in the others."""
    people = [r[0] for r in rows]
    columns = {n: [r[i] for r in rows] for i, n in enumerate("pqs", start=1)}
    told = [".".join(e.get(p, "-") for e in earlier) for p in people]
    plain = build.case(columns | {"t": told}, columns | {"t": told}, "qqsq", nulls=nulls)
    wider = requirement.changed(attributes=(*QI, "t"))
    expected = agree(audit(wider), plain.but(requirements=(wider,)), least=4)
    example = build.case(columns, columns, "qqs", nulls=nulls, ledger=True, history=history(people, *earlier))
    found = agree(audit(requirement), example.but(requirements=(requirement,)), least=8)
    for name in (audit(requirement).metric, "classes", "classes_beyond", "rows_beyond"):
        assert found[f"r.cumulative_{name}"] == pytest.approx(expected[f"r.{name}"], abs=1e-12)


# two diseases in each class of both releases, and only one in the groups of people that both leave
FIRST = dict(zip(PEOPLE, "aabbabab", strict=True))
NOW = {"p": list("ababaabb"), "s": ["1", "2", "1", "2", "2", "1", "1", "2"]}


def crossed(build, *earlier, **more):
    requirement = LDiversity.of("privacy.l_diversity.s", "s", l=2, attributes=("p",))
    return build.case(
        NOW, NOW, "qs", requirements=(requirement,), ledger=True, history=history(PEOPLE, *earlier), **more
    )


def test_two_diverse_releases_that_together_tell_a_value_name_the_first(build):
    groups: dict[tuple[str, str], set[str]] = {}
    for person, now, value in zip(PEOPLE, NOW["p"], NOW["s"], strict=True):
        groups.setdefault((FIRST[person], now), set()).add(value)
    homogeneous = [g for g, values in groups.items() if len(values) == 1]
    assert homogeneous
    outcome = audit(REQUIREMENTS[0]).measure(*crossed(build, FIRST).args)
    by_metric = shown(outcome)
    assert by_metric["privacy.l_diversity.s.l"].figure.value == 2
    found = by_metric["privacy.l_diversity.s.cumulative_l"]
    assert found.figure.value == 1
    assert found.requirement == "privacy.l_diversity.s"
    assert "It collides with: no. 1." in found.sentence
    assert outcome.figures["privacy.l_diversity.s.cumulative_classes_beyond"].value == len(homogeneous)


def test_the_same_classes_again_tell_nothing_new(build):
    again = dict(zip(PEOPLE, NOW["p"], strict=True))
    found = shown(audit(REQUIREMENTS[0]).measure(*crossed(build, again, again).args))
    assert found["privacy.l_diversity.s.cumulative_l"].figure.value == 2
    assert "2 others" in found["privacy.l_diversity.s.cumulative_l"].sentence


def test_without_another_release_it_is_the_release_itself(build, agree):
    found = agree(audit(REQUIREMENTS[0]), crossed(build), least=8)
    assert found["privacy.l_diversity.s.cumulative_l"] == found["privacy.l_diversity.s.l"] == 2


def test_who_is_new_is_told_from_the_others(build):
    """Six of eight were there before: the two new ones share a class and a disease."""
    before = dict.fromkeys(PEOPLE[:6], "a")
    now = {"p": ["x"] * 8, "s": ["1", "2", "1", "2", "1", "2", "1", "1"]}
    requirement = LDiversity.of("r", "s", l=2, attributes=("p",))
    example = build.case(now, now, "qs", requirements=(requirement,), ledger=True, history=history(PEOPLE, before))
    outcome = audit(requirement).measure(*example.args)
    assert outcome.figures["r.cumulative_l"].value == 1
    assert outcome.figures["r.cumulative_rows_beyond"].value == 2


@pytest.mark.parametrize(
    "more",
    [
        {"history": None},
        {"history": ReleaseHistory(None)},
        {"paired": False},
        {"history": ReleaseHistory(None, (EarlierRelease("a", frozenset()),))},
    ],
    ids=["judged alone", "nobody's rows", "no pairs", "unknown release"],
)
def test_what_cannot_be_told_does_not_hold(build, more):
    requirement = LDiversity.of("r", "s", l=2, attributes=("p",))
    given = {"history": history(PEOPLE, FIRST)} | more
    example = build.case(NOW, NOW, "qs", requirements=(requirement,), ledger=True, **given)
    found = shown(audit(requirement).measure(*example.args))["r.cumulative_l"]
    assert not found.verifiable
    assert found.figure.value is None
    assert found.sentence
    assert set(audit(requirement).recheck(*example.args)) == {"r.l", "r.classes", "r.classes_beyond", "r.rows_beyond"}


def test_generated_rows_are_nobodys_and_policies_without_a_ledger_ask_nothing(build):
    requirement = LDiversity.of("r", "s", l=2, attributes=("p",))
    made = dict.fromkeys(NOW, (("make", Change.GENERATED),))
    for more in ({"ledger": True, "changes": made, "history": ReleaseHistory(None)}, {"ledger": False}):
        example = build.case(NOW, NOW, "qs", requirements=(requirement,), **more)
        assert list(shown(audit(requirement).measure(*example.args))) == ["r.l"]
