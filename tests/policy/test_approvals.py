"""Approvals that a template demands, and everything that a policy may try to do without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.policy import load

HOUSE = "version: 1\napprovals: {roles: [data-owner, privacy-officer], signers: signers.yaml}\n"
KEPT = "floors: {approvals: not weaker}\n"
FIGURES = """floors:
  approvals.roles: contains [data-owner, privacy-officer]
  approvals.distinct: is true
  approvals.signers: is signers.yaml
"""
PERSON = """version: 1
name: test
extends: house/house.yaml
attributes: {job: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
gates: {g: {metric: x.y, max: 1}}
releases: {study: {path: a.csv}}
"""
WAIVER = "of: gates.g, reason: r, owner: o, until: 2027-03-31"


def below(read, floors: str, policy: str, house: str = HOUSE, sets=None) -> list[str]:
    """Return the places that a floor or a conflict under a floor refuses."""
    loaded = read(PERSON + policy, {"house/house.yaml": house + floors}, sets)
    refused = [d for d in loaded.diagnostics if d.code in ("PPF308", "PPF315") and d.severity is Severity.ERROR]
    assert not {d.code for d in loaded.diagnostics} & {"PPF309", "PPF314", "PPF201"}
    return [".".join(d.path) for d in refused]


ATTACKS = {
    "": [],
    "approvals: {roles: [press, privacy-officer, data-owner]}": [],
    "approvals: {distinct: true}": [],
    "approvals: {signers: house/signers.yaml}": [],
    "approvals: null": ["approvals"],
    "approvals: {roles: null}": ["approvals.roles"],
    "approvals: {roles: [data-owner]}": ["approvals.roles"],
    "approvals: {roles: [press]}": ["approvals.roles"],
    "approvals: {roles: [data-owner, Privacy-Officer]}": ["approvals.roles"],
    "approvals: {distinct: false}": ["approvals.distinct"],
    "approvals: {signers: signers.yaml}": ["approvals.signers"],
    "approvals: {signers: ../house/signers.yaml}": ["approvals.signers"],
    "approvals: {signers: null}": ["approvals.signers"],
}


@pytest.mark.parametrize("floors", [KEPT, FIGURES], ids=["not weaker", "by figures"])
@pytest.mark.parametrize("policy", ATTACKS)
def test_nothing_gets_past(read, floors: str, policy: str) -> None:
    found = below(read, floors, f"{policy}\n")
    if ATTACKS[policy] == ["approvals"]:
        assert found
        assert all(path.startswith("approvals") for path in found)
    else:
        assert found == ATTACKS[policy]


@pytest.mark.parametrize("floors", [KEPT, FIGURES], ids=["not weaker", "by figures"])
@pytest.mark.parametrize(
    "over", ["approvals.distinct=false", "approvals.signers=own.yaml"], ids=["distinct", "signers"]
)
def test_over_does_not_get_past(read, floors: str, over: str) -> None:
    below(read, floors, "")
    path, _, value = over.partition("=")
    loaded = load(Path("p.yaml"), over={tuple(path.split(".")): value})
    assert [".".join(d.path) for d in loaded.diagnostics if d.code == "PPF308"] == [path]


@pytest.mark.parametrize(
    "floor", ["approvals: present", "approvals.roles: contains data-owner", "approvals.distinct: is true"]
)
def test_a_floor_on_any_part_demands_approvals(read, floor: str) -> None:
    """The template leaves to policies who approves; a policy that says nothing has no approvals at all."""
    assert below(read, f"floors: {{'{floor.replace(': ', chr(39) + ': ', 1)}}}\n", "", "version: 1\n")
    own = "approvals: {roles: [data-owner], signers: signers.yaml}\n"
    assert below(read, f"floors: {{'{floor.replace(': ', chr(39) + ': ', 1)}}}\n", own, "version: 1\n") == []


def test_a_param_that_switches_approvals_off_is_held_by_a_figure(read) -> None:
    house = """version: 1
params: {apart: {type: boolean, default: true}, who: {type: list, default: [data-owner, privacy-officer]}}
approvals: {roles: "${params.who}", distinct: "${params.apart}", signers: signers.yaml}
"""
    files = {"house/house.yaml": house + FIGURES}
    given = PERSON.replace(
        "house/house.yaml", "[{template: house/house.yaml, with: {apart: false, who: [data-owner]}}]"
    )
    for text, sets, places in (
        (PERSON, {}, set()),
        (PERSON, {"apart": "false"}, {"approvals.distinct"}),
        (PERSON, {"who": "data-owner"}, {"approvals.roles"}),
        (given, {}, {"approvals.roles", "approvals.distinct"}),
    ):
        refused = [d for d in read(text, files, sets).diagnostics if d.severity is Severity.ERROR]
        assert {d.code for d in refused} <= {"PPF308", "PPF314"}
        assert {".".join(d.path) for d in refused} == places


@pytest.mark.parametrize("order", ["[house/house.yaml, house/lax.yaml]", "[house/lax.yaml, house/house.yaml]"])
@pytest.mark.parametrize("floors", [KEPT, FIGURES], ids=["not weaker", "by figures"])
def test_a_second_weaker_template_does_not_take_the_place_of_the_first(read, order: str, floors: str) -> None:
    lax = "version: 1\napprovals: {roles: [data-owner], distinct: false, signers: lax.yaml}\n"
    text = PERSON.replace("extends: house/house.yaml", f"extends: {order}")
    loaded = read(text, {"house/house.yaml": HOUSE + floors, "house/lax.yaml": lax})
    errors = {d.code for d in loaded.diagnostics if d.severity is Severity.ERROR}
    assert errors & {"PPF308", "PPF315"}
    assert loaded.policy is None or errors


def test_a_template_in_between_does_not_lower_it_either(read) -> None:
    middle = "version: 1\nextends: house/house.yaml\napprovals: {roles: [data-owner], signers: own.yaml}\n"
    text = PERSON.replace("house/house.yaml", "middle.yaml")
    loaded = read(text, {"house/house.yaml": HOUSE + KEPT, "middle.yaml": middle})
    assert [".".join(d.path) for d in loaded.diagnostics if d.code == "PPF308"] == [
        "approvals.roles",
        "approvals.signers",
    ]


@pytest.mark.parametrize(
    ("floor", "waiver", "faults"),
    [
        ("is privacy-officer", "", ["waivers.w.signed_by"]),
        ("is privacy-officer", ", signed_by: privacy-officer", []),
        ("is privacy-officer", ", signed_by: data-owner", ["waivers.w.signed_by"]),
        ("is privacy-officer", ", signed_by: null", ["waivers.w.signed_by"]),
        ("one of [privacy-officer, data-owner]", ", signed_by: data-owner", []),
        ("one of [privacy-officer, data-owner]", ", signed_by: press", ["waivers.w.signed_by"]),
    ],
)
def test_waivers_that_a_template_wants_signed(read, floor: str, waiver: str, faults: list[str]) -> None:
    floors = f"{KEPT[:-2]}, waivers.*.signed_by: '{floor}'}}\n"
    assert below(read, floors, f"waivers: {{w: {{{WAIVER}{waiver}}}}}\n") == faults
    assert below(read, floors, "") == []


@pytest.mark.parametrize(
    ("policy", "codes"),
    [
        ("approvals: {roles: [data-owner], signers: s.yaml}", []),
        ("approvals: {roles: [data-owner, data-owner], signers: s.yaml}", ["PPF507"]),
        ("approvals: {roles: [author], signers: s.yaml}", ["PPF345"]),
        ("approvals: {roles: [data-owner], distinct: false, signers: s.yaml}", ["PPF346"]),
        ("approvals: {roles: [], signers: s.yaml}", ["PPF209"]),
        ("approvals: {roles: data-owner, signers: s.yaml}", ["PPF208"]),
        ("approvals: {roles: [data owner], signers: s.yaml}", ["PPF206"]),
        ("approvals: {signers: s.yaml}", ["PPF202"]),
        ("approvals: {roles: [data-owner]}", ["PPF202"]),
        ("approvals: {roles: [data-owner], signer: s.yaml}", ["PPF201"]),
        ("approvals: {roles: [data-owner], distinct: no, signers: s.yaml}", ["PPF205"]),
        (f"waivers: {{w: {{{WAIVER}, signed_by: dpo}}}}", ["PPF347"]),
        (f"waivers: {{w: {{{WAIVER}, signed_by: author}}}}", ["PPF345", "PPF347"]),
        (
            f"approvals: {{roles: [data-owner], signers: s.yaml}}\nwaivers: {{w: {{{WAIVER}, signed_by: dpo}}}}",
            [],
        ),
    ],
)
def test_what_a_policy_says_by_itself(read, policy: str, codes: list[str]) -> None:
    text = PERSON.replace("extends: house/house.yaml\n", "")
    assert sorted(d.code for d in read(f"{text}{policy}\n").diagnostics) == sorted(codes)


def test_paths_in_floors_are_meant_from_the_file_that_states_them(read) -> None:
    floors = "floors: {ledger.path: 'one of [a.ledger, /var/b.ledger]', source.path: is data.csv}\n"
    files = {"house/house.yaml": f"version: 1\n{floors}"}
    for path, refused in (("house/a.ledger", False), ("a.ledger", True), ("/var/b.ledger", False)):
        loaded = read(f"{PERSON}source: {{path: house/data.csv}}\nledger: {{path: {path}}}\n", files)
        assert any(d.code == "PPF308" for d in loaded.diagnostics) is refused


def test_a_whole_map_that_a_floor_demands_has_its_path_rewritten_too(read) -> None:
    floors = "floors: {approvals: 'is {roles: [data-owner, privacy-officer], signers: signers.yaml}'}\n"
    assert below(read, floors, "") == []
    assert below(read, floors, "approvals: {roles: [data-owner, privacy-officer, press]}\n") == ["approvals"]
    assert below(read, floors, "approvals: {signers: signers.yaml}\n") == ["approvals"]
