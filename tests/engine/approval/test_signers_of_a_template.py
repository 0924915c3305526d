"""Held runs of policies whose list of signers is a template's, in another folder, that its floor keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from held_runs import POLICY, HeldHome

from ppdm_flow import api

OWN = "approvals: {roles: [data-owner, privacy-officer], signers: signers.yaml}\n"
FLOORS = {
    "not weaker": "floors: {approvals: not weaker}",
    "a path": "floors: {approvals.signers: is signers.yaml}",
    "the whole": "floors: {approvals: 'is {roles: [data-owner, privacy-officer], signers: signers.yaml}'}",
    "none": "",
}


@pytest.fixture(params=FLOORS)
def house(request, tmp_path: Path) -> HeldHome:
    """The policy stands beside its data; the template, with the signers and its floors, in a folder of its own."""
    home = HeldHome.make(tmp_path / "policies")
    folder = tmp_path / "house"
    folder.mkdir()
    (home.folder / "signers.yaml").rename(folder / "signers.yaml")
    (folder / "house.yaml").write_text(f"version: 1\n{OWN}{FLOORS[request.param]}\n")
    home.policy(POLICY.replace(OWN, "extends: ../house/house.yaml\n"))
    return home


@pytest.mark.slow(quick=1)
def test_it_is_released_after_others_and_judged_again(house: HeldHome) -> None:
    """What the ledger learned meanwhile is judged by the policy that the run kept: its floors hold of its copies."""
    first, second = (house.run().run_dir for _ in range(2))
    for run in (first, second):
        house.approve(run)
    assert house.release(first).outcome.published
    for who, role in (("ana", "author"), ("olga", "data-owner"), ("pia", "privacy-officer")):
        house.sign(second, who, role, later=5)
    assert house.release(second, later=9).outcome.published
    assert [entry.state for entry in house.look().entries] == ["released", "released"]


@pytest.mark.slow(quick=1)
def test_it_is_made_again_and_found_to_be_the_same(house: HeldHome) -> None:
    run = house.run().run_dir
    outcome = api.verify(run, data=house.folder / "people.csv")
    assert (outcome.holds, outcome.verdict) == (True, "held")
