"""Evidence of runs that wait for approvals: signed and verified where their releases lie until then."""

from __future__ import annotations

import shutil

import pytest
from held_runs import HeldHome

from ppdm_flow.engine.evidence.signatures import read_attestation
from ppdm_flow.engine.evidence.signing import signed
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.verify.verify import verify
from ppdm_flow.policy.signers import read_signers


@pytest.fixture
def home(tmp_path):
    return HeldHome.make(tmp_path, ledger=False)


@pytest.fixture
def run(home):
    return home.run(sign=None).run_dir


def no_plan(_policy, _data):
    raise AssertionError


def verified(home, run):
    return verify(run, None, no_plan, signers=read_signers(home.folder / "signers.yaml"))


def test_a_held_run_is_signed_and_has_no_copies(home, run):
    assert not verified(home, run).holds
    done = signed(run, home.keys["olga"], "data-owner", utc_now())
    assert [(each.release, each.copy, each.already_signed) for each in done] == [("public", "", False)]
    assert not list(run.glob("held/*/attestations"))
    said = read_attestation(run / done[0].name).statement
    assert said["predicate"]["run"]["verdict"] == "held"
    assert [s["name"] for s in said["subject"]] == sorted(
        p.relative_to(run / "held/public").as_posix() for p in (run / "held/public").rglob("*") if p.is_file()
    )
    outcome = verified(home, run)
    assert (outcome.verdict, outcome.holds) == ("held", True)


def test_nothing_that_was_signed_changes_when_it_is_released(home, run):
    for name, role in (("ana", "author"), ("olga", "data-owner"), ("pia", "privacy-officer")):
        signed(run, home.keys[name], role, utc_now())
    before = {p.name: p.read_bytes() for p in (run / "attestations").iterdir()}
    home.release(run)
    assert {p.name: p.read_bytes() for p in (run / "attestations").iterdir()} == before
    assert {p.read_bytes() for p in (run / "released/public/attestations").iterdir()} == set(before.values())
    outcome = verified(home, run)
    assert (outcome.verdict, outcome.holds) == ("released", True)
    (copy,) = signed(run, home.keys["omar"], "data-owner", utc_now())
    assert (run / copy.copy).read_bytes() == (run / copy.name).read_bytes()
    assert verified(home, run).holds


def test_a_held_run_that_was_changed(home, run):
    signed(run, home.keys["olga"], "data-owner", utc_now())
    path = run / "held/public/ward.csv"
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    assert not verified(home, run).holds
    path.write_bytes(data)
    assert verified(home, run).holds


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("content", [b"{}", b"patient,disease\n", None])
def test_no_other_file_hides_among_copies_of_a_held_run(home, run, content):
    (done,) = signed(run, home.keys["olga"], "data-owner", utc_now())
    folder = run / "held/public/attestations"
    folder.mkdir()
    file = folder / done.name.rpartition("/")[2].replace("-public.json", ".json")
    if content is None:
        shutil.copy(run / done.name, file)
        assert verified(home, run).holds
    else:
        file.write_bytes(content)
        assert not verified(home, run).holds
