"""Signatures of runs: replayed, of another role, release or policy, damaged; each beside its harmless mirror image."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, date, datetime, timedelta

import pytest
from signed_runs import copied, key, signer, signers

from ppdm_flow.core.digests import canonical
from ppdm_flow.engine.evidence.signatures import read_attestation, signatures_of
from ppdm_flow.engine.evidence.signing import sign_run
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.verify.verify import verify
from ppdm_flow.evidence.keys import Envelope
from ppdm_flow.evidence.signers import Revocation, Signers
from ppdm_flow.evidence.statement import payload

KEY = key("alice").public.key_id[:16]
ALICE = signer("alice", "data-owner")
STUDY = f"attestations/data-owner-{KEY}-study.json"


def no_plan(_policy, _data):
    raise AssertionError


def verified(run, people=(ALICE,), now=utc_now):
    return verify(run, None, no_plan, signers=Signers(tuple(people)), now=now)


def faults(run, people=(ALICE,)):
    return {s.fault for s in signatures_of(run, Signers(tuple(people)), utc_now())}


def resigned(run, change, by="alice", name=STUDY):
    """Have somebody sign another statement in the place of one: they hold a key, and lie."""
    statement = read_attestation(run / name).statement
    change(statement)
    public = key(by).public
    statement["predicate"]["signer"] = {"key_id": public.key_id, "key": public.text}
    (run / name).write_bytes(Envelope.signed(payload(statement), key(by)).data)
    said = statement["predicate"]
    copy = run / f"released/{said['release']}/attestations/{said['role']}-{public.key_id[:16]}.json"
    if copy.parent.is_dir():
        shutil.copy(run / name, copy)


def test_a_signed_run_verifies(signed_run):
    assert verified(signed_run).holds
    found = signatures_of(signed_run, signers(ALICE), utc_now())
    assert [(s.release, s.role, s.signer, s.good, s.fault) for s in found] == [
        ("office", "data-owner", "alice", True, ""),
        ("study", "data-owner", "alice", True, ""),
    ]
    assert all(s.key_id == key("alice").public.key_id and s.signed <= utc_now() for s in found)


def test_without_a_list_nobody_is_named_and_nothing_fails(signed_run):
    outcome = verify(signed_run, None, no_plan)
    assert outcome.holds
    assert [s.signer for s in outcome.evidence.signatures] == [None, None]


def test_an_unsigned_run(run):
    assert verify(run, None, no_plan).holds
    outcome = verified(run)
    assert (outcome.holds, outcome.unchanged, outcome.evidence.unsigned) == (False, True, ("office", "study"))


def test_a_release_that_nobody_signed(run):
    sign_run(run, key("alice"), "data-owner", utc_now(), ["study"])
    assert verified(run).evidence.unsigned == ("office",)
    sign_run(run, key("alice"), "data-owner", utc_now())
    assert verified(run).holds


def test_a_signature_of_another_run(signed_run, other_run, tmp_path):
    other = copied(other_run, tmp_path / "second")
    sign_run(other, key("alice"), "data-owner", utc_now())
    assert verified(other).holds
    for place in ("attestations", "released/study/attestations"):
        shutil.rmtree(other / place)
        shutil.copytree(signed_run / place, other / place)
    outcome = verified(other)
    assert not outcome.holds
    assert {s.fault for s in outcome.evidence.signatures} == {"it is about another run, or the manifest was changed"}
    assert not verify(other, None, no_plan).holds


def test_a_signature_of_an_older_policy(signed_run, other_run, tmp_path):
    """The signer signs the run at hand, but what they say of the policy is what they agreed to before."""
    old = json.loads((other_run / "manifest.json").read_text())["digests"]["policy"]
    resigned(signed_run, lambda s: s["predicate"]["digests"].update(policy=old))
    assert "what it says of the digests is not what the run's documents say" in faults(signed_run)
    assert not verified(signed_run).holds


def test_a_signature_of_another_release(signed_run):
    office = signed_run / f"attestations/data-owner-{KEY}-office.json"
    shutil.copy(office, signed_run / STUDY)
    shutil.copy(office, signed_run / f"released/study/attestations/data-owner-{KEY}.json")
    assert "does not have the name of the envelope in it" in faults(signed_run)
    assert not verified(signed_run).holds


def test_a_signature_in_another_role(signed_run):
    """Renamed to a role that the signer does not have, and signed in a role that the signer does not have."""
    author = signed_run / f"attestations/author-{KEY}-study.json"
    shutil.copy(signed_run / STUDY, author)
    assert "does not have the name of the envelope in it" in faults(signed_run)
    author.unlink()
    assert verified(signed_run).holds
    sign_run(signed_run, key("alice"), "author", utc_now())
    assert "`alice` has no role `author`" in faults(signed_run)
    assert not verified(signed_run).holds
    assert verified(signed_run, [signer("alice", "author", "data-owner")]).holds


LIES = {
    "digests": lambda s: s["predicate"]["digests"].update(report="0" * 64),
    "lock": lambda s: s["predicate"]["digests"].update(lock="0" * 64),
    "templates": lambda s: s["predicate"]["digests"].update(templates={"builtin:x": "0" * 64}),
    "verdict": lambda s: s["predicate"]["run"].update(verdict="held"),
    "times": lambda s: s["predicate"]["run"].update(finished="2020-01-01T00:00:00+00:00"),
    "run": lambda s: s["predicate"]["run"].update(name="20200101T000000Z-0123456789ab"),
    "files": lambda s: s["subject"].pop(),
    "bytes": lambda s: s["subject"][1]["digest"].update(sha256="0" * 64),
    "bound": lambda s: s["predicate"]["requirements"][0].update(bound=30.0),
    "measured": lambda s: s["predicate"]["requirements"][0].update(measured=30),
    "type of measured": lambda s: s["predicate"]["requirements"][0].update(
        measured=float(s["predicate"]["requirements"][0]["measured"] or 0)
    ),
    "no requirements": lambda s: s["predicate"].update(requirements=[]),
    "waivers": lambda s: s["predicate"].update(
        waivers=[{"name": "w", "of": "x", "reason": "y", "owner": "z", "until": "2026-01-01"}]
    ),
    "tool": lambda s: s["predicate"]["tool"].update(version="9"),
    "randomness": lambda s: s["predicate"]["randomness"].update(commitment="0" * 64),
    "ledger": lambda s: s["predicate"].update(ledger={"key": "0" * 64, "position": 1, "chain": ""}),
}


@pytest.mark.slow(quick=6)
@pytest.mark.parametrize("about", LIES)
def test_what_the_documents_do_not_say_nobody_signs(signed_run, about):
    resigned(signed_run, LIES[about])
    outcome = verified(signed_run)
    assert not outcome.holds
    assert [s.damaged for s in outcome.evidence.signatures] == [False, True]
    assert not verify(signed_run, None, no_plan).holds


def test_saying_nothing_false_is_no_fault(signed_run):
    """The mirror image of the lies: signed once more, as it was; and a measured figure may be left out."""
    resigned(signed_run, lambda _statement: None)
    assert verified(signed_run).holds
    resigned(signed_run, lambda s: s["predicate"]["requirements"][0].update(measured=None))
    assert verified(signed_run).holds


TIMES = {
    "older than the run": lambda said: said.update(signed="2020-01-01T00:00:00+00:00"),
    "in the future": lambda said: said.update(signed="2999-01-01T00:00:00+00:00"),
}


@pytest.mark.parametrize("said", TIMES)
def test_times_that_cannot_be(signed_run, said):
    resigned(signed_run, lambda s: TIMES[said](s["predicate"]))
    assert any(said in fault for fault in faults(signed_run))
    outcome = verified(signed_run)
    assert not outcome.holds
    assert [s.damaged for s in outcome.evidence.signatures] == [False, False]


TODAY = datetime.now(UTC).date()


@pytest.mark.parametrize(
    ("alice", "said"),
    [
        (signer("alice", "data-owner", first=TODAY - timedelta(days=1), last=TODAY + timedelta(days=1)), ""),
        (signer("alice", "data-owner", first=TODAY + timedelta(days=2)), "not valid yet"),
        (signer("alice", "data-owner", last=TODAY - timedelta(days=2)), "valid no more"),
        (signer("alice", "data-owner", revoked=Revocation(date(2020, 1, 1), "lost")), "revoked"),
        (signer("alice", "data-owner", revoked=Revocation(date(2999, 1, 1), "lost")), "revoked"),
        (signer("alice", "privacy-officer"), "no role"),
        (signer("bob", "data-owner"), "no signer has this key"),
    ],
)
def test_signers_that_may_not(signed_run, alice, said):
    outcome = verified(signed_run, [alice])
    assert outcome.holds == (not said)
    assert all(said in s.fault for s in outcome.evidence.signatures)


def test_algorithm_confusion_by_key_ids(signed_run):
    """Mallory signs under alice's id; mallory's key is on the list with another name and role."""
    path = signed_run / STUDY
    forged = Envelope.parse(path.read_bytes())
    other = Envelope.signed(forged.payload, key("mallory"))
    path.write_bytes(Envelope(forged.payload, forged.key_id, other.signature).data)
    people = [ALICE, signer("mallory", "reader")]
    assert "has a signature that does not fit what is signed" in faults(signed_run, people)
    path.write_bytes(Envelope(forged.payload, other.key_id, other.signature).data)
    assert "names one key outside and another one inside" in faults(signed_run, people)


def link(path):
    path.rename(path.with_name("x"))
    (path.with_name("x")).rename(path.parents[1] / "elsewhere.json")
    path.symlink_to(path.parents[1] / "elsewhere.json")


def folder(path):
    path.unlink()
    path.mkdir()


def pretty(path):
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))


def doubled(path):
    text = path.read_text()
    path.write_text(text.replace('"payloadType":', '"payloadType":"text/plain","payloadType":', 1))


def emptied(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [link, folder, pretty, doubled, emptied])
def test_a_damaged_envelope_is_a_fault_for_any_signers(signed_run, damage):
    damage(signed_run / STUDY)
    assert not verify(signed_run, None, no_plan).holds
    assert not verified(signed_run).holds


@pytest.mark.parametrize(
    "name",
    [
        "attestations/readme.txt",
        "attestations/deep/er.json",
        "released/study/attestations/other.json",
        "released/study/attestations/deep/er.json",
        "released/attestations/x.json",
        "attestations.json",
        "publication.json",
        ".signing-1-a",
    ],
)
def test_no_other_file_is_taken_for_evidence(signed_run, name):
    path = signed_run / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(canonical({}))
    assert not verify(signed_run, None, no_plan).holds
    path.unlink()
    if path.parent.name == "deep":
        path.parent.rmdir()
    assert verify(signed_run, None, no_plan).holds


def test_a_good_envelope_at_a_wrong_place(signed_run):
    shutil.copy(signed_run / STUDY, signed_run / f"released/office/attestations/data-owner-{KEY}.json")
    assert not verified(signed_run).holds


def test_a_copy_that_is_not_the_one(signed_run):
    path = signed_run / f"released/study/attestations/data-owner-{KEY}.json"
    path.write_bytes(path.read_bytes()[:-1])
    assert not verify(signed_run, None, no_plan).holds


def test_the_folder_of_envelopes_is_no_link(signed_run, tmp_path):
    (signed_run / "attestations").rename(tmp_path / "elsewhere")
    (signed_run / "attestations").symlink_to(tmp_path / "elsewhere")
    assert not verify(signed_run, None, no_plan).holds


def test_signed_and_then_changed(signed_run):
    """Rewriting data and manifest together makes the hashes fit, but not the signature."""
    import hashlib

    data = signed_run / "released/study/study.csv"
    data.write_bytes(data.read_bytes().replace(b"north", b"south"))
    path = signed_run / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"]["released/study/study.csv"]["sha256"] = hashlib.sha256(data.read_bytes()).hexdigest()
    path.write_text(json.dumps(manifest))
    outcome = verified(signed_run)
    assert outcome.unchanged
    assert not outcome.holds


def test_a_report_that_is_missing(signed_run):
    (signed_run / "report.json").unlink()
    assert not verified(signed_run).holds
    (result,) = signatures_of(signed_run, signers(ALICE), utc_now())
    assert (result.good, result.damaged) == (False, True)
