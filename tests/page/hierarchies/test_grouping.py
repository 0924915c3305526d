"""Values in groups of groups: after any change, the result is a hierarchy."""

from __future__ import annotations

import random
import time

import pytest

from ppdm_flow.mining.hierarchies.building import checked
from ppdm_flow.page.services.hierarchies.declared import DeclaredAttribute, declared_grouping
from ppdm_flow.page.services.hierarchies.grouping import UnusableGroupError, ValueGrouping, flat, grouped

JOBS = ("nurse", "doctor", "clerk", "driver")


def _care() -> ValueGrouping:
    return flat(JOBS).moved(0, ["nurse", "doctor"], "care")


def test_values_are_put_into_a_group_and_the_others_stand_for_themselves():
    made = _care()
    assert made.lines()["nurse"] == ("care", "*")
    assert made.lines()["clerk"] == ("clerk", "*")
    assert made.groups(0) == {"care": ["nurse", "doctor"], "clerk": ["clerk"], "driver": ["driver"]}
    assert made.single(0) == ["clerk", "driver"]
    assert made.rows({"nurse": 3, "doctor": 4, "clerk": 5}, 1) == {"care": 7, "clerk": 5, "driver": 0}


def test_groups_are_put_into_larger_ones():
    made = _care().raised().moved(1, ["clerk", "driver"], "service")
    assert made.lines()["clerk"] == ("clerk", "service", "*")
    assert made.lines()["doctor"] == ("care", "care", "*")
    assert made.lowered() == _care()


def test_what_is_above_follows_a_group_that_is_renamed_split_or_dissolved():
    made = _care().raised().moved(1, ["care", "clerk"], "indoors")
    assert made.renamed(0, "care", "health").lines()["nurse"] == ("health", "indoors", "*")
    assert made.moved(0, ["nurse"], "nursing").lines()["nurse"] == ("nursing", "indoors", "*")
    assert made.dissolved(0, "care").lines()["doctor"] == ("doctor", "indoors", "*")
    alone = _care().raised().renamed(0, "care", "health")
    assert alone.lines()["nurse"] == ("health", "health", "*")


def test_what_is_above_follows_through_thousands_of_levels():
    high = grouped({f"v{n}": (*[f"{n // 2}"] * 3_000, *[f"{n // 4} over"] * 2_000) for n in range(8)})
    began = time.perf_counter()
    made = high.moved(0, ["v0"], "alone")
    assert time.perf_counter() - began < 2  # 7 s where each level is derived from the first one anew
    assert made.lines()["v0"] == (*["alone"] * 3_000, *["0 over"] * 2_000, "*")
    assert made.lines()["v1"] == high.lines()["v1"]


def test_a_hierarchy_of_very_many_levels_is_not_read_as_groups(server):
    def read(many: int) -> ValueGrouping:
        hierarchy = {"levels": {"a": ["x"] * many, "b": ["y"] * many}}
        attribute = DeclaredAttribute(("attributes", "job"), "", "", hierarchy, {})
        return declared_grouping(server.site.policies, "p.yaml", attribute)

    assert len(read(100).parents) == 100
    for many in (101, 50_000):
        with pytest.raises(UnusableGroupError) as refused:
            read(many)
        assert refused.value.key == "hierarchies.many_levels"


@pytest.mark.parametrize("name", ["", " care", "a\nb", "\u202ecare", "*", "⊥", "x" * 201])
def test_a_name_that_no_label_can_have_is_refused(name):
    with pytest.raises(UnusableGroupError):
        flat(JOBS).moved(0, ["nurse"], name)


def test_a_group_is_never_called_like_a_value_outside_of_it():
    together = flat(JOBS).moved(0, ["doctor"], "nurse")
    assert together.lines()["doctor"] == ("nurse", "*")
    with pytest.raises(UnusableGroupError):
        together.moved(0, ["nurse"], "care")
    with pytest.raises(UnusableGroupError):
        _care().raised().moved(1, ["clerk"], "doctor")


def test_members_that_are_none_levels_that_end_and_names_that_are_taken_are_refused():
    with pytest.raises(UnusableGroupError):
        flat(JOBS).moved(0, ["baker"], "care")
    with pytest.raises(UnusableGroupError):
        flat(JOBS).moved(0, [], "care")
    with pytest.raises(UnusableGroupError):
        flat(JOBS).lowered()
    with pytest.raises(UnusableGroupError):
        _care().renamed(0, "care", "clerk")
    with pytest.raises(UnusableGroupError):
        _care().dissolved(0, "cares")


def test_a_hierarchy_that_is_there_comes_back_as_it_was():
    lines = {"a": ("x", "z", "*"), "b": ("x", "z", "*"), "c": ("y", "z", "*"), "d": ("w", "w", "*")}
    assert grouped(lines).lines() == lines
    assert grouped({"a": ("x", "*"), "b": ("x", "*")}).lines()["a"] == ("x", "*")
    assert grouped({"a": ("*",), "b": ("*",)}).lines() == {"a": ("a", "*"), "b": ("b", "*")}
    assert grouped(lines).over(["d", "e"]).lines()["e"] == ("e", "e", "*")


def test_a_hierarchy_that_puts_apart_what_was_together_is_refused():
    with pytest.raises(UnusableGroupError):
        grouped({"a": ("x", "1", "*"), "b": ("x", "2", "*")})


@pytest.mark.slow(quick=21)
@pytest.mark.parametrize("seed", range(40))
def test_any_order_of_changes_makes_a_hierarchy_that_the_product_accepts(seed):
    dice = random.Random(seed)
    values = [f"v{n}" for n in range(12)]
    names = [*"abcdef", "v3", "v7"]
    made, changes = flat(values), 0
    for _ in range(120):
        level = dice.randrange(len(made.parents))
        members = list(made.parents[level])
        groups = list(made.groups(level))
        deeds = (
            lambda: made.moved(level, dice.sample(members, min(len(members), dice.randint(1, 4))), dice.choice(names)),  # noqa: B023  # called at once
            lambda: made.renamed(level, dice.choice(groups), dice.choice(names)),  # noqa: B023
            lambda: made.dissolved(level, dice.choice(groups)),  # noqa: B023
            made.raised,
            made.lowered,
        )
        try:
            made = dice.choices(deeds, weights=(6, 2, 2, 1, 1))[0]()
        except UnusableGroupError:
            continue
        changes += 1
        fit = checked(made.lines(), dict.fromkeys(values, 1))
        assert fit.holds, made.lines()
        assert grouped(made.lines()).lines() == made.lines()
    assert changes > 40
