"""Whether the people of a list of signers could give the approvals that a policy asks for."""

from __future__ import annotations

import hashlib
import json
import sys
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from signers import signers_text

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.evidence.assignment import crowded_roles, matching
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.forms import FORMS, draw
from ppdm_flow.policy import load

TODAY = date(2026, 11, 21)
ROLES = ("data-owner", "privacy-officer", "press")
POLICY = """version: 1
name: p
source: {path: t.csv}
attributes: {a: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
audits: {sizes: {use: class_sizes}}
gates: {g: {metric: sizes.classes, max: 9}}
releases: {one: {path: one.csv}}
"""
WAIVER = "of: gates.g, reason: r, owner: o, until: 2027-03-31, signed_by: press"


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compile a policy with approvals, and a list of signers beside it."""

    def compile_with(more, signers="", name="p.yaml", files=None, today=TODAY):
        monkeypatch.chdir(tmp_path)
        for path, text in {name: POLICY + more, "signers.yaml": signers, **(files or {})}.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, encoding="utf-8")
        return compile_policy(load(Path(name)), clock=None if today is None else lambda: today)

    return compile_with


def own(outcome) -> list[tuple[str, str]]:
    return [(d.code, ".".join(d.path)) for d in outcome.diagnostics]


def asked(roles, *, distinct=True) -> str:
    return f"approvals: {{roles: [{', '.join(roles)}], distinct: {str(distinct).lower()}, signers: signers.yaml}}\n"


def could_be_given(people: dict[str, set[str]], roles, *, distinct: bool) -> bool:
    """Whether some author, and somebody else for each role, could sign: all ways are tried."""
    for author in people["author"]:
        for chosen in product(*(sorted(people[role] - {author}) for role in roles)):
            if not distinct or len(set(chosen)) == len(chosen):
                return True
    return False


@pytest.mark.slow(quick=32)
@pytest.mark.parametrize("seed", range(80))
def test_enough_people(compiled, seed) -> None:
    """The check agrees with all ways that there are to give the approvals."""
    rng = np.random.default_rng(seed)
    names = ("alice", "bob", "carol", "dora")[: int(rng.integers(1, 5))]
    people = {role: {n for n in names if rng.random() < 0.5} for role in ("author", *ROLES)}
    listed = {n: ", ".join(r for r in people if n in people[r]) for n in names}
    signers = signers_text({n: roles for n, roles in listed.items() if roles} or {"erin": "nothing"})
    roles = [str(r) for r in rng.permutation(ROLES)[: int(rng.integers(1, 4))]]
    distinct = bool(rng.random() < 0.7)
    outcome = compiled(asked(roles, distinct=distinct), signers)
    wrong = [d for d in outcome.diagnostics if d.code == "PPF348"]
    assert (not wrong) is could_be_given(people, roles, distinct=distinct)
    assert (outcome.plan is None) is bool(wrong)
    assert all(d.span is not None and d.span.file == "p.yaml" for d in wrong)


@pytest.mark.parametrize("seed", range(200))
def test_matching_and_crowds(seed) -> None:
    """Kuhn's paths against all ways; where there are none, a set of roles has too few people, as Hall says."""
    rng = np.random.default_rng(seed)
    roles = (*ROLES, "author", "other")
    names = "abcde"
    people = {r: [n for n in names if rng.random() < 0.35] for r in roles[: int(rng.integers(1, 6))]}
    possible = any(len(set(c)) == len(c) for c in product(*people.values()))
    found = matching(people)
    assert (found is not None) is possible
    crowded = crowded_roles(people)
    assert (not crowded) is possible
    if found is not None:
        assert list(found) == list(people)
        assert len(set(found.values())) == len(people)
        assert all(found[role] in people[role] for role in people)
    else:
        assert len({n for role in crowded for n in people[role]}) < len(crowded)


LATE = {"alice": "author", "bob": "data-owner"}


@pytest.mark.parametrize(
    ("said", "today", "codes"),
    [
        ("until: 2026-11-21", TODAY, []),
        ("until: 2026-11-20", TODAY, ["PPF349"]),
        ("from: 2026-11-22", TODAY, ["PPF349"]),
        ("from: 2026-11-21", TODAY, []),
        ("until: 2026-11-20", None, []),
        ('revoked: {on: 2026-06-01, reason: "lost"}', None, ["PPF348"]),
        ('revoked: {on: 2027-06-01, reason: "lost"}', TODAY, ["PPF348"]),
    ],
)
def test_days_are_warned_of_and_revoked_keys_are_nobodys(compiled, said, today, codes) -> None:
    for late, place in (("bob", "approvals.roles.0"), ("alice", "approvals.signers")):
        outcome = compiled(asked(["data-owner"]), signers_text(LATE, **{late: said}), today=today)
        assert own(outcome) == [(code, place) for code in codes]
        assert (outcome.plan is None) is ("PPF348" in codes)


def test_the_plan_says_what_is_asked_for(compiled, tmp_path) -> None:
    signers = signers_text({"alice": "author", "bob": "data-owner", "carol": "press"})
    outcome = compiled(asked(["data-owner"]) + f"waivers: {{w: {{{WAIVER}}}}}\n", signers)
    assert own(outcome) == []
    approvals = outcome.plan.approvals
    assert approvals.signers == str(tmp_path / "signers.yaml")
    assert approvals.needed == ("data-owner", "press")
    written = json.loads(json.dumps(document(outcome.plan)))
    assert written["approvals"] == {
        "roles": ["data-owner"],
        "distinct": True,
        "signers": "signers.yaml",
        "sha256": hashlib.sha256(signers.encode()).hexdigest(),
        "waivers": {"w": "press"},
    }
    assert written["waivers"][0]["signed_by"] == "press"
    for form in FORMS:
        assert "data-owner" in draw(form, written) or form == "svg"
        assert "held until signed by" in draw(form, written)


def test_another_content_of_the_signers_file_is_another_plan(compiled) -> None:
    first = signers_text({"alice": "author", "bob": "data-owner"})
    plans = [compiled(asked(["data-owner"]), text).plan for text in (first, first, first + "# a remark\n")]
    assert plans[0].digest == plans[1].digest != plans[2].digest
    assert compiled("", first).plan.approvals is None


def test_a_role_from_the_environment_is_in_the_plan_as_it_is(compiled, monkeypatch) -> None:
    """The person who releases the run reads there who has to sign."""
    monkeypatch.setenv("OFFICE", "data-owner")
    more = "params: {office: {from_env: OFFICE}}\n" + asked(['"${params.office}"'])
    outcome = compiled(more, signers_text({"alice": "author", "bob": "data-owner"}))
    assert document(outcome.plan)["approvals"]["roles"] == ["data-owner"]


def test_linked_tables_wait_for_approvals_too(compiled) -> None:
    good = Path(__file__).parents[1] / "examples" / "good" / "linked_tables.yaml"
    signers = signers_text({"alice": "author", "bob": "data-owner"})
    files = {"linked.yaml": good.read_text(encoding="utf-8") + asked(["data-owner"])}
    compiled("", signers, files=files)
    outcome = compile_policy(load(Path("linked.yaml")), clock=lambda: TODAY)
    assert outcome.plan.tables
    assert outcome.plan.approvals.roles == ("data-owner",)


def test_a_role_that_signs_a_waiver_has_to_be_somebodys(compiled) -> None:
    signers = signers_text({"alice": "author", "bob": "data-owner"})
    outcome = compiled(asked(["data-owner"]) + f"waivers: {{w: {{{WAIVER}}}}}\n", signers)
    assert own(outcome) == [("PPF348", "waivers.w.signed_by")]


def test_without_approvals_nothing_of_signers_is_imported(compiled, monkeypatch) -> None:
    for name in [n for n in sys.modules if n.startswith("ppdm_flow.policy.signers")]:
        monkeypatch.delitem(sys.modules, name)
    compiled("", "")
    assert not [n for n in sys.modules if n.startswith("ppdm_flow.policy.signers")]


HOUSE = "version: 1\napprovals: {roles: [data-owner], signers: signers.yaml}\n"
OWN = "approvals: {signers: own.yaml}\n"
ONE_FOR_ALL = {"alice": "author, data-owner", "bob": "author, data-owner"}
SWAPS = {
    "nobody demands anything": ("", OWN, []),
    "the template keeps its file": ("floors: {approvals: not weaker}", OWN, ["PPF308"]),
    "by a path": ("floors: {approvals.signers: is signers.yaml}", OWN, ["PPF308"]),
    "roles alone": ("floors: {approvals.roles: contains data-owner}", OWN, ["PPF340"]),
    "people alone": ("floors: {approvals.distinct: is true}", OWN, ["PPF340"]),
    "approvals of any kind": ("floors: {approvals: present}", OWN, ["PPF340"]),
    "the child speaks of it": (
        "floors: {approvals.roles: contains data-owner}",
        f"{OWN}floors: {{approvals.signers: present}}\n",
        ["PPF340"],
    ),
    "left to policies": (
        "floors: {approvals.roles: contains data-owner, approvals.signers: present}",
        OWN,
        [],
    ),
    "the template's own": ("floors: {approvals.roles: contains data-owner}", "", []),
    "the same file": (
        "floors: {approvals: not weaker}",
        "approvals: {signers: house/signers.yaml}\n",
        [],
    ),
}


@pytest.mark.parametrize(("floors", "policy", "codes"), SWAPS.values(), ids=SWAPS)
def test_a_child_does_not_swap_the_signers_in_silence(compiled, floors, policy, codes) -> None:
    """The child's file lets one person do what the template wants two for; nobody would see it in the policy."""
    files = {
        "house/house.yaml": f"{HOUSE}{floors}\n",
        "house/signers.yaml": signers_text({"alice": "author", "bob": "data-owner"}),
        "own.yaml": signers_text(ONE_FOR_ALL),
    }
    outcome = compiled(f"extends: house/house.yaml\n{policy}", files=files)
    assert [code for code, _ in own(outcome)] == codes
    severe = [d for d in outcome.diagnostics if d.severity is Severity.ERROR]
    assert (outcome.plan is None) is bool(severe) is ("PPF308" in codes)


def test_a_template_of_the_template_may_say_who_signs(compiled) -> None:
    files = {
        "house/house.yaml": "version: 1\nextends: people.yaml\nfloors: {approvals.roles: contains data-owner}\n",
        "house/people.yaml": HOUSE,
        "house/signers.yaml": signers_text({"alice": "author", "bob": "data-owner"}),
        "other.yaml": "version: 1\napprovals: {signers: own.yaml}\n",
        "own.yaml": signers_text(ONE_FOR_ALL),
    }
    assert own(compiled("extends: house/house.yaml\n", files=files)) == []
    both = compiled("extends: [house/house.yaml, other.yaml]\n", files=files)
    assert {code for code, _ in own(both)} >= {"PPF340"}


def test_a_warning_on_approvals_can_be_waived(compiled) -> None:
    waiver = "waivers: {one: {of: PPF346, reason: r, owner: o, until: 2027-03-31}}\n"
    signers = signers_text({"alice": "author", "bob": "data-owner, press"})
    outcome = compiled(asked(["data-owner", "press"], distinct=False) + waiver, signers)
    assert [code for code, _ in own(outcome)] == ["PPF346"]
    assert [d.code for d in outcome.waived] == ["PPF346"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("version: 2\nsigners: {}\n", "PPF207"),
        ("version: 1\nsigners: {}\n", "PPF209"),
        ("version: 1\nsigners: [alice]\n", "PPF208"),
        ("name: a policy\nattributes: {}\n", "PPF350"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n", "PPF350"),
        ("", "PPF350"),
    ],
)
def test_a_file_that_is_no_list_of_signers_is_told_without_a_word_of_it(compiled, text, code) -> None:
    outcome = compiled(asked(["data-owner"]), text)
    assert outcome.plan is None
    assert code in {c for c, _ in own(outcome)}
    assert "c2VjcmV0" not in "".join(f"{d.message}{d.hint}{d.help}{d.notes}" for d in outcome.diagnostics)
    assert "c2VjcmV0" not in "".join(outcome.sources.values())
