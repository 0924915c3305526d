"""The kit for requirements: built-in kinds on classes pass, and a kind that breaks one promise is found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.policy.language.kinds import spec_of
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.requirements.k_anonymity.algorithm import KAnonymityAudit
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_anonymity.spec import ORDER
from ppdm_flow.testing import requirement_conformance as checks
from ppdm_flow.testing.requirement_case import BadEntry, RequirementCase
from ppdm_flow.testing.requirement_conformance import RequirementConformance, faults
from ppdm_flow.testing.view import InMemoryView

ILL = {"disease": ["1"]}
BUILT_IN = {
    "k_anonymity": ("", [{"k": 2}, {"k": 3}, {"k": 2, "attributes": ["age"]}]),
    "l_diversity": (
        "disease",
        [{"l": 2}, {"l": 3}, {"l": 1.8, "kind": "entropy"}, {"l": 2, "kind": "recursive", "c": 1.5}],
    ),
    "t_closeness": (
        "disease",
        [{"t": t, "distance": "equal"} for t in (0.2, 0.4)] + [{"t": 0.4, "distance": "ordered"}],
    ),
    "alpha_k": ("disease", [{"alpha": 0.5}, {"alpha": 0.7}, {"alpha": 0.5, "values": ["1", "2"]}]),
    "delta_disclosure": ("disease", [{"delta": 1.0}, {"delta": 0.4}]),
    "beta_likeness": ("disease", [{"beta": 1.0}, {"beta": 0.4}]),
    "lkc": ("", [{"l": n, "k": 2, "c": 0.5, "sensitive": ILL} for n in (1, 2)]),
    "dominance": ("disease", [{"p": p, "share": s, "contributors": 3} for p, s in ((10, 0.7), (30, 0.6))]),
    "special_uniques": ("", [{"size": n, "max_share": 0.3} for n in (1, 2)]),
    "templates": ("ill", [{"channel": ["age"], "sensitive": ILL, "confidence": c} for c in (0.5, 0.7)]),
}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("kind", BUILT_IN)
def test_built_in_kinds_on_classes_conform(kind):
    name, clauses = BUILT_IN[kind]
    assert faults(RequirementCase(spec_of(kind), tuple(clauses), name)) == {}


K = spec_of("k_anonymity")
HERE = __name__


def case(**more):
    return RequirementCase(replace(K, **more), ({"k": 2}, {"k": 3}), nulls=(Nulls.OWN_CATEGORY,), examples=20)


SOUND = case()


def measured_by(algorithm):
    return replace(K.audit, algorithm=f"{HERE}:{algorithm}")


class OneMore(KAnonymityAudit):
    def recheck(self, original, candidate, ctx):
        return {n: v + 1 if n.endswith(".k") else v for n, v in super().recheck(original, candidate, ctx).items()}


class Single(KAnonymityAudit):
    def recheck(self, original, candidate, ctx):
        return {}


class OneRoute(KAnonymityAudit):
    recheck = None


def unweighted(view):
    roles = {f.name: Role.INSENSITIVE if f.role is Role.WEIGHT else f.role for f in view.schema.fields}
    return InMemoryView.of(view.whole, roles, view.partition_rows)


class Unweighted(KAnonymityAudit):
    def measure(self, original, candidate, ctx):
        return super().measure(unweighted(original), unweighted(candidate), ctx)

    def recheck(self, original, candidate, ctx):
        return super().recheck(unweighted(original), unweighted(candidate), ctx)


class Altered(KAnonymityAudit):
    """Measures by both routes as if something that it is told were otherwise."""

    def measure(self, original, candidate, ctx):
        return super().measure(original, *self.told(candidate, ctx))

    def recheck(self, original, candidate, ctx):
        return super().recheck(original, *self.told(candidate, ctx))


class CountsRows(Altered):
    def told(self, candidate, ctx):
        return candidate, replace(ctx, people=None)


class LeavesMissingOut(Altered):
    def told(self, candidate, ctx):
        return candidate, replace(ctx, nulls=Nulls.EXCLUDE)


class LooksAtNames(Altered):
    """Knows no released columns but those that the policy names."""

    def told(self, candidate, ctx):
        names = [n for n in candidate.schema.names if n in ctx.original_attributes]
        roles = {f.name: f.role for f in candidate.schema.fields}
        known = InMemoryView.of(candidate.whole.select(names), roles, candidate.partition_rows)
        return known, replace(ctx, attributes={n: ctx.attributes[n] for n in names})


class LooksAtOneFile(Altered):
    def told(self, candidate, ctx):
        return candidate, replace(ctx, reader=None, others=(), siblings={})


class Mute(KAnonymityAudit):
    def measure(self, original, candidate, ctx):
        found = super().measure(original, candidate, ctx)
        return replace(found, measured=tuple(replace(m, sentence="") for m in found.measured))


REVERSED = replace(
    ORDER, rules=((KAnonymity, KAnonymity, lambda given, asked, between: "so" if given.k <= asked.k else None),)
)
SILENT = replace(ORDER, says=lambda requirement, frame: iter([object()]))
STRANGE = Order(ORDER.says, ORDER.rules, frozenset(("k", "attributes", "colour")))


class OtherFields(KAnonymity):
    @classmethod
    def document_type(cls):
        return TypedDict("OtherFields", {"k": int, "attributes": list[str], "colour": str})


class Undescribed(KAnonymity):
    k: Annotated[int, Field(ge=2)]


class Generous(KAnonymity):
    classes: ClassVar[str] = f"{HERE}:one_row_less"


class Refusing(KAnonymity):
    classes: ClassVar[str] = f"{HERE}:none_at_all"


def none_at_all(asked, columns):
    raise PluginError(Diagnostic("PPF807", "no table is good enough"))


def one_row_less(asked, columns):
    return [KAnonymous(asked.k - 1)]


class Raising(KAnonymity):
    def bound(self, place):
        raise TypeError


BROKEN = {
    "by two figures": (checks.two_routes_agree, {"audit": measured_by("OneMore")}, "by the second"),
    "by one route": (checks.two_routes_agree, {"audit": measured_by("Single")}, "second route does not give"),
    "no second route": (checks.two_routes_agree, {"audit": measured_by("OneRoute")}, "a method `recheck`"),
    "forgotten weights": (
        checks.weights_count_as_rows,
        {"audit": measured_by("Unweighted")},
        "with the rows repeated",
    ),
    "rows of one person": (
        checks.people_count_once,
        {"audit": measured_by("CountsRows")},
        "holds where some have more of the same rows",
    ),
    "missing values left out": (
        checks.missing_values_form_groups,
        {"audit": measured_by("LeavesMissingOut")},
        "where these are a value of their own",
    ),
    "columns by their names": (
        checks.copies_count,
        {"audit": measured_by("LooksAtNames")},
        "holds where it is suppressed, and released once more as `copy`",
    ),
    "one file alone": (
        checks.files_tell_together,
        {"audit": measured_by("LooksAtOneFile")},
        "holds of two files, one with",
    ),
    "untold figures": (
        checks.figures_are_told,
        {"audit": replace(K.audit, info=replace(K.audit.info, figures={}))},
        "not on the card",
    ),
    "reversed order": (
        checks.stricter_never_passes_what_weaker_fails,
        {"order": f"{HERE}:REVERSED"},
        "breaks the other",
    ),
    "no order": (checks.order_looks_at_every_field, {"order": f"{HERE}:SILENT"}, "none of the clauses stricter"),
    "strange order": (checks.order_looks_at_every_field, {"order": f"{HERE}:STRANGE"}, "`colour`"),
    "generous classes": (
        checks.classes_agree_with_measure,
        {"requirement": Generous},
        "by `measure` the table breaks it",
    ),
    "no classes": (checks.classes_agree_with_measure, {"requirement": Refusing}, "refuses all random tables"),
    "undescribed key": (checks.fields_are_described, {"requirement": Undescribed}, "the key `k` has no description"),
    "page that is not there": (checks.page_is_there, {"page": "ppdm_flow:nowhere.md"}, "nowhere.md"),
    "page without sections": (
        checks.page_is_there,
        {"page": "ppdm_flow:pages/concepts/trust.md"},
        "no text under `## Not so`; the page has no text under `## What to do`",
    ),
    "no page": (checks.page_is_there, {"name": "nobodys_kind"}, "has no page"),
    "other fields": (checks.document_has_its_fields, {"requirement": OtherFields}, "`colour`"),
    "no sentence": (checks.failures_name_what_is_wrong, {"audit": measured_by("Mute")}, "no sentence"),
}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("promise", BROKEN)
def test_a_kind_that_breaks_a_promise_is_found(promise):
    check, changes, told = BROKEN[promise]
    assert list(check(SOUND)) == []
    assert told in "; ".join(check(case(**changes)))


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (BadEntry({"k": 1}, "k"), ""),
        (BadEntry({"k": 2, "attributes": ["agee"]}, "agee"), ""),
        (BadEntry({"k": 2}, "k"), "is not refused"),
        (BadEntry({"k": 2, "attributes": ["agee"]}, "town"), "does not name `town`"),
    ],
)
def test_refused_entries_name_what_is_wrong(bad, told):
    said = "; ".join(checks.failures_name_what_is_wrong(replace(case(), examples=3, bad=(bad,))))
    assert (told in said) if told else said == ""


def test_what_a_kind_raises_is_a_fault_of_it():
    (fault,) = faults(case(requirement=Raising))["two_routes_agree"]
    assert re.match(rf"TypeError was raised in \w+ \({Path(__file__).name}:\d+\)", fault)


def test_every_check_is_a_test_of_the_class():
    tests = {name for name in dir(RequirementConformance) if name.startswith("test_")}
    assert tests == {f"test_{check.__name__}" for check in checks.CHECKS}
