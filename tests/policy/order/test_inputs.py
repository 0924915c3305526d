"""What steps read: compared by what they do, without their names."""

from __future__ import annotations

import pytest

from ppdm_flow.policy.language.models import Step
from ppdm_flow.policy.order import ChangeVerdict, compare
from ppdm_flow.policy.order.releases import as_written, made_by


def made(name: str, **steps: tuple[str, tuple[str, ...] | None]) -> str:
    return made_by({n: Step(use=use, input=read) for n, (use, read) in steps.items()}, name, as_written)


def test_names_of_steps_do_not_matter_and_what_they_do_does():
    one = made("c", a=("drop", None), b=("mask", ("source",)), c=("stack", ("a", "b.left")))
    assert one == made("z", x=("drop", None), y=("mask", ("source",)), z=("stack", ("x", "y.left")))
    others = [
        made("c", a=("drop", None), b=("mask", ("source",)), c=("stack", ("b.left", "a"))),
        made("c", a=("drop", None), b=("mask", ("source",)), c=("stack", ("a", "b"))),
        made("c", a=("drop", None), b=("mask", ("source",)), c=("stack", ("a",))),
        made("c", a=("drop", None), b=("mask", ("a",)), c=("stack", ("a", "b.left"))),
        made("c", a=("mask", None), b=("mask", ("source",)), c=("stack", ("a", "b.left"))),
    ]
    assert len({one, *others}) == 1 + len(others)


def test_the_step_before_is_the_input_where_none_is_named():
    assert made("b", a=("drop", None), b=("mask", None)) == made("b", a=("drop", ("source",)), b=("mask", ("a",)))
    assert made("source", a=("drop", None)) == ""


@pytest.mark.parametrize("width", [1, 2])
def test_long_ways_and_many_ways_are_no_trouble(width):
    steps = {"s0": ("drop", None)} | {f"s{i}": ("stack", (f"s{i - 1}",) * width) for i in range(1, 3000)}
    assert made("s2999", **steps) != made("s2998", **steps)


def test_circles_end():
    assert made("a", a=("drop", ("b",)), b=("mask", ("a",))) != made("a", a=("drop", ("b",)), b=("mask", ("b",)))


def test_another_operator_of_clients_is_for_people_to_judge(written):
    def collected(operator):
        return {
            "version": 1,
            "name": "p",
            "source": {"path": "sent.jsonl", "randomized_by": "clients", "operator": operator},
            "attributes": {"basket": {"role": "items"}},
            "privacy": {"itemset_breach": {"level": 0.9, "sizes": [1], "max_supports": [0.2]}},
            "releases": {"study": {"path": "study.parquet"}},
        }

    old, new = written(collected("a.json"), "old.yaml"), written(collected("b.json"), "new.yaml")
    for pair, digests, verdicts in (
        ((old, old), ("one", "one"), []),
        ((old, old), ("one", "two"), [ChangeVerdict.INCOMPARABLE]),
        ((old, old), (None, None), [ChangeVerdict.INCOMPARABLE]),
        ((old, new), ("one", "one"), [ChangeVerdict.NEUTRAL]),
        ((old, new), ("one", "two"), [ChangeVerdict.INCOMPARABLE]),
    ):
        contents = [lambda _, digest=digest: digest for digest in digests]
        changes = compare(*pair, contents=tuple(contents)).changes
        assert [c.verdict for c in changes if c.clause == "source.operator"] == verdicts
    assert not compare(old, old).changes, "where no file is read, equal paths mean equal files"
