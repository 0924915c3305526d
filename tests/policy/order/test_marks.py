"""The order of a kind that states none: by the marks of its model, where all else in both policies is alike."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from ppdm_flow.core.model import (
    GROUPS,
    HIGHER,
    HIGHER_IF_ANY,
    LOWER,
    LOWER_IF_ANY,
    MORE,
    Absent,
    Fixed,
    FixedMap,
    Model,
    StrongestFirst,
    Texts,
)
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.requirement_families import OnAttribute, OnClasses
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.policy.language.shape import policy_model
from ppdm_flow.policy.order.classes import unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import order_by_marks

POLICY = {
    "version": "1",
    "name": "p",
    "attributes": {
        "a": {"role": "quasi_identifier"},
        "b": {"role": "quasi_identifier"},
        "s": {"role": "sensitive"},
        "o": {"role": "sensitive"},
    },
    "releases": {"r": {"path": "r.csv"}},
}


class Below(Model):
    size: Annotated[float | None, HIGHER] = None
    path: str = "x.csv"


class Marked(OnAttribute):
    kind: ClassVar[str] = "marked"
    least: Annotated[int, HIGHER] = 5
    most: Annotated[float, LOWER] = 0.5
    lowest: Annotated[float | None, HIGHER_IF_ANY] = None
    highest: Annotated[float | None, LOWER_IF_ANY] = None
    way: Annotated[str, StrongestFirst(("hard", "soft"))] = "soft"
    absent: Absent = ValuesAbsent.ALLOWED
    many: Annotated[Texts, MORE] = ("x",)
    each: Annotated[dict[str, Texts], MORE, Fixed] = FixedMap({"k": ("x",)})
    below: Below = Below(size=1.0)
    other: str = "same"


class Grouped(OnClasses):
    kind: ClassVar[str] = "grouped"
    least: Annotated[int, HIGHER] = 5


class Crowd(Model):
    size: Annotated[int, HIGHER] = 2
    by: Annotated[Texts, GROUPS] = ("a",)


class Nested(Requirement):
    kind: ClassVar[str] = "nested"
    crowd: Crowd = Crowd()
    several: tuple[Crowd, ...] = ()


def frame(contents=None, **changes):
    policy = policy_model().model_validate(POLICY | changes)
    return PolicyFrame(policy) if contents is None else PolicyFrame(policy, contents)


def implies(one, other, given=None, asked=None, **options):
    order = order_by_marks(type(one), **options)
    given, asked = given or frame(), asked or frame()
    (claim,), (wanted,) = order.says(one, given), order.says(other, asked)
    (_, _, rule), *_ = order.rules
    return rule(claim, wanted, ComparedPolicies(given, asked))


@pytest.mark.parametrize(
    "stricter",
    [
        {"least": 6},
        {"most": 0.4},
        {"lowest": 1.0},
        {"highest": 1.0},
        {"way": "hard"},
        {"absent": ValuesAbsent.ERROR},
        {"many": ("y", "x")},
        {"each": FixedMap({"k": ("y", "x")})},
        {"each": FixedMap({"k": ("x",), "l": ("x",)})},
        {"below": Below(size=2.0)},
    ],
    ids=str,
)
def test_a_field_is_stricter_by_its_mark(stricter):
    one, other = Marked.of("", "s", **stricter), Marked.of("", "s")
    assert implies(one, other)
    assert implies(other, one) is None


def test_the_reason_has_the_figures():
    assert implies(Marked.of("", "s", most=0.4), Marked.of("", "s")) == (
        "`least`: at least 5 is at least 5, `most`: at most 0.4 is at most 0.5"
    )
    assert implies(Grouped.of("", attributes=("a",)), Grouped.of("", attributes=("a",))) == "at least 5 is at least 5"


def test_groups_of_models_within_an_entry():
    """Their attributes were compared with nothing: a crowd by another column passed for as strict."""
    crowd, other = Crowd(size=2, by=("a",)), Crowd(size=3, by=("b",))
    assert implies(Nested.of("", crowd=other), Nested.of("", crowd=crowd)) is None
    assert implies(Nested.of("", crowd=Crowd(size=3)), Nested.of("", crowd=crowd))
    more = Nested.of("", crowd=Crowd(by=("a", "b")))
    assert implies(more, Nested.of("", crowd=crowd)) is None
    assert implies(more, Nested.of("", crowd=crowd), groups=unions)
    assert implies(Nested.of("", crowd=crowd), more, groups=unions) is None
    several = Nested.of("", several=(crowd,))
    assert implies(several, several)
    excluding = frame(nulls="exclude")
    assert implies(several, several, excluding, frame(), alike=None) is None


@pytest.mark.parametrize("field", [{"other": "another"}, {"below": Below(size=1.0, path="y.csv")}, {"below": Below()}])
def test_what_has_no_mark_or_lacks_a_figure_is_compared_with_its_like_alone(field):
    one, other = Marked.of("", "s", **field), Marked.of("", "s")
    assert implies(one, other) is None
    assert implies(other, one) is None


def test_entries_on_other_attributes_say_nothing_of_each_other():
    assert implies(Marked.of("", "s"), Marked.of("", "o")) is None


def test_neither_the_place_nor_the_order_of_sets_counts():
    one = Marked.of("privacy.marked.s", "s", many=("x", "y"), releases=("r",))
    other = Marked.of("", "s", many=("y", "x", "y"))
    (claim,), (wanted,) = (order_by_marks(Marked).says(each, frame()) for each in (one, other))
    assert claim == wanted


@pytest.mark.parametrize(
    "changed",
    [
        {"nulls": "exclude"},
        {"people": {"unit": "rows"}},
        {"source": {"missing": ["?"]}},
        {"attributes": POLICY["attributes"] | {"c": {"role": "quasi_identifier"}}},
        {"attributes": POLICY["attributes"] | {"a": {"role": "insensitive"}}},
        {"recipients": "apart"},
    ],
    ids=str,
)
def test_all_else_has_to_be_alike(changed):
    one, other = Marked.of("", "s"), Marked.of("", "s")
    assert implies(one, other, frame(**changed), frame(**changed))
    assert implies(one, other, frame(**changed)) is None or implies(one, other, None, frame(**changed)) is None


def test_groups_have_to_be_the_same():
    one, other = Grouped.of("", attributes=("a", "b")), Grouped.of("", attributes=("a",))
    assert implies(one, other) is None
    assert implies(other, one) is None


def test_files_have_to_hold_the_same():
    one, other = Marked.of("", "s"), Marked.of("", "s")
    files = {"x.csv": "1"}.get, {"x.csv": "2"}.get
    places = (("below", "path"),)
    assert implies(one, other, frame(files[0]), frame(files[0]), files=places)
    assert implies(one, other, frame(files[0]), frame(files[1]), files=places) is None
    assert implies(one, other, frame(files[0]), frame(files[1]), files=(("nothing", "there"),))
