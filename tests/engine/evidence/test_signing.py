"""Signing runs: what is written, what it says, and what is not signed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
from datetime import timedelta

import pytest
from securesystemslib import dsse
from securesystemslib.signer import SSlibKey
from signed_runs import POLICY, copied, key, signer, signers, small_run

from ppdm_flow.core.errors import DataError, RunError, UsageError
from ppdm_flow.engine.evidence import writing
from ppdm_flow.engine.evidence.signatures import read_attestation, signatures_of
from ppdm_flow.engine.evidence.signing import sign_run, signed
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.verify.verify import verify

KEY = key("alice").public.key_id[:16]
PEOPLE = signers(signer("alice", "data-owner", "author"), signer("bob", "privacy-officer"))


def no_plan(_policy, _data):
    raise AssertionError


def files(run):
    return {p.relative_to(run).as_posix(): p.read_bytes() for p in run.rglob("*") if p.is_file()}


def test_each_release_is_signed_by_itself(run, whole_run):
    before = files(whole_run)
    paths = sign_run(run, key("alice"), "data-owner", utc_now())
    assert [p.relative_to(run).as_posix() for p in paths] == [
        f"attestations/data-owner-{KEY}-office.json",
        f"attestations/data-owner-{KEY}-study.json",
    ]
    after = files(run)
    assert {name: data for name, data in after.items() if name in before} == before
    copies = {f"released/{name}/attestations/data-owner-{KEY}.json" for name in ("office", "study")}
    assert after.keys() - before.keys() == {p.relative_to(run).as_posix() for p in paths} | copies
    for name in ("office", "study"):
        assert (
            after[f"released/{name}/attestations/data-owner-{KEY}.json"]
            == after[f"attestations/data-owner-{KEY}-{name}.json"]
        )


def test_what_a_statement_says(run):
    manifest = json.loads((run / "manifest.json").read_text())
    time = utc_now()
    sign_run(run, key("alice"), "data-owner", time)
    statement = read_attestation(run / f"attestations/data-owner-{KEY}-study.json").statement
    assert statement["subject"] == [
        {"name": name, "digest": {"sha256": manifest["files"][f"released/study/{name}"]["sha256"]}}
        for name in ("datasheet.html", "datasheet.md", "dictionary.json", "study.csv")
    ]
    said = statement["predicate"]
    assert said["run"] == {
        "policy": "clinic",
        "name": run.name,
        "started": manifest["started"],
        "finished": manifest["finished"],
        "verdict": "released",
    }
    assert (said["release"], said["role"]) == ("study", "data-owner")
    assert said["signed"] == time.isoformat(timespec="seconds")
    assert said["digests"]["policy"] == manifest["digests"]["policy"]
    assert said["digests"]["report"] == manifest["files"]["report.json"]["sha256"]
    assert [(r["id"], r["bound"], r["holds"]) for r in said["requirements"]] == [("privacy.k_anonymity", 3.0, True)]
    assert said["requirements"][0]["measured"] >= 3
    assert said["tool"]["version"] == manifest["versions"]["ppdm_flow"]


def test_its_recipient_learns_nothing_of_other_releases_nor_of_the_input(run):
    manifest = json.loads((run / "manifest.json").read_text())
    sign_run(run, key("alice"), "data-owner", utc_now())
    text = (run / f"released/study/attestations/data-owner-{KEY}.json").read_bytes()
    text = text + read_attestation(run / f"attestations/data-owner-{KEY}-study.json").envelope.payload
    others = [about["sha256"] for name, about in manifest["files"].items() if name.startswith("released/office")]
    for secret in ("office", *others, manifest["digests"]["input"], manifest["digests"]["schema"], "clinic.csv"):
        assert secret.encode() not in text
    assert b"study" in text


def test_a_partner_is_told_no_small_count_and_the_house_is(run):
    sign_run(run, key("alice"), "data-owner", utc_now())
    told = {
        name: [
            r["measured"]
            for r in read_attestation(run / f"attestations/data-owner-{KEY}-{name}.json").statement["predicate"][
                "requirements"
            ]
        ]
        for name in ("study", "office")
    }
    assert told["study"] != [None]
    assert told["office"] == ([None] if told["study"][0] < 10 else told["study"])


def test_it_verifies_with_securesystemslib(run):
    sign_run(run, key("alice"), "data-owner", utc_now())
    public = key("alice").public
    theirs = SSlibKey.from_crypto(key("alice").private.public_key(), keyid=public.key_id)
    for path in run.rglob("attestations/*.json"):
        dsse.Envelope.from_dict(json.loads(path.read_bytes())).verify([theirs], 1)


def test_one_release_alone(run):
    (path,) = sign_run(run, key("alice"), "data-owner", utc_now(), ["study"])
    assert path.name.endswith("-study.json")
    assert not (run / "released/office/attestations").exists()
    with pytest.raises(UsageError, match=r"PPF963.*no release `studi`"):
        sign_run(run, key("alice"), "data-owner", utc_now(), ["studi"])


def test_signing_again_changes_nothing(signed_run):
    before = files(signed_run)
    again = signed(signed_run, key("alice"), "data-owner", utc_now() + timedelta(hours=1))
    assert [each.already_signed for each in again] == [True, True]
    assert files(signed_run) == before
    other = signed(signed_run, key("alice"), "author", utc_now())
    assert [each.already_signed for each in other] == [False, False]
    assert [(s.role, s.release) for s in signatures_of(signed_run, PEOPLE, utc_now())] == [
        ("author", "office"),
        ("author", "study"),
        ("data-owner", "office"),
        ("data-owner", "study"),
    ]


def test_signing_again_puts_a_lost_copy_back(signed_run):
    before = files(signed_run)
    shutil.rmtree(signed_run / "released/study/attestations")
    assert not verify(signed_run, None, no_plan).holds
    sign_run(signed_run, key("alice"), "data-owner", utc_now())
    assert files(signed_run) == before
    assert verify(signed_run, None, no_plan).holds


@pytest.mark.parametrize(
    "damage", [lambda data: data + b" ", lambda data: data.replace(b"k", b"l", 1), lambda _data: b""]
)
def test_a_damaged_signature_is_not_written_over(signed_run, damage):
    path = signed_run / f"attestations/data-owner-{KEY}-study.json"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UsageError, match=r"PPF963.*cannot stay"):
        sign_run(signed_run, key("alice"), "data-owner", utc_now())


def changed_data(run):
    path = run / "released/study/study.csv"
    path.write_bytes(path.read_bytes() + b"\n")


def changed_report(run):
    path = run / "report.json"
    path.write_text(path.read_text().replace('"holds": true', '"holds": true '))


def changed_manifest(run):
    """A manifest that fits the changed data, and does not know the report's verdict."""
    path = run / "manifest.json"
    path.write_text(path.read_text().replace('"verdict": "released"', '"verdict": "withheld"'))


def key_twice(run):
    path = run / "manifest.json"
    path.write_text(path.read_text().replace('"version": 1,', '"version": 1, "verdict": "withheld",', 1))


def missing_file(run):
    (run / "released/study/dictionary.json").unlink()


def one_more_file(run):
    (run / "released/study/more.csv").write_text("a\n")


def unpublished(run):
    (run / "candidate").mkdir()


def no_manifest(run):
    (run / "manifest.json").unlink()


def a_link(run):
    path = run / "released/study/study.csv"
    path.rename(run.parent / "elsewhere.csv")
    path.symlink_to(run.parent / "elsewhere.csv")


@pytest.mark.parametrize(
    "change",
    [
        changed_data,
        changed_report,
        changed_manifest,
        key_twice,
        missing_file,
        one_more_file,
        unpublished,
        no_manifest,
        a_link,
    ],
)
def test_what_is_not_as_it_was_judged_is_not_signed(run, change):
    change(run)
    with pytest.raises(UsageError, match="PPF963"):
        sign_run(run, key("alice"), "data-owner", utc_now())
    assert not (run / "attestations").exists()


def test_a_withheld_run_is_not_signed(tmp_path):
    without_steps = POLICY.replace("steps:\n  recoded: {use: full_domain_recoding}\n", "").replace(
        ", from: recoded", ""
    )
    with pytest.raises(AssertionError):
        small_run(tmp_path, without_steps)
    (run,) = (p.parent for p in tmp_path.glob("runs/*/*/manifest.json"))
    with pytest.raises(UsageError, match=r"PPF963.*is withheld"):
        sign_run(run, key("alice"), "data-owner", utc_now())


@pytest.mark.parametrize("role", ["", "data owner", "../x", "a" * 65, "rôle", "a\n"])
def test_a_role_is_a_name(run, role):
    with pytest.raises(UsageError, match="PPF963"):
        sign_run(run, key("alice"), role, utc_now())


def test_a_clock_that_is_behind(run):
    with pytest.raises(DataError, match="PPF964"):
        sign_run(run, key("alice"), "data-owner", utc_now() - timedelta(days=400))


def test_a_copy_of_a_run_in_another_folder_is_signed_with_its_own_name(run, tmp_path):
    place = tmp_path / "check" / "anything"
    shutil.copytree(run, place)
    sign_run(place, key("alice"), "data-owner", utc_now())
    said = read_attestation(place / f"attestations/data-owner-{KEY}-study.json").statement["predicate"]
    assert said["run"]["name"] == run.name
    for envelope in (place / "attestations").iterdir():
        (run / "attestations").mkdir(exist_ok=True)
        shutil.copy(envelope, run / "attestations")
    assert all(s.good for s in signatures_of(run, PEOPLE, utc_now()))


def test_two_sign_at_once(run):
    threads = [
        threading.Thread(target=sign_run, args=(run, key(name), role, utc_now()))
        for name, role in (("alice", "data-owner"), ("bob", "privacy-officer"), ("alice", "author")) * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(run, None, no_plan, signers=PEOPLE).holds
    assert len(list((run / "attestations").iterdir())) == 6


def test_a_run_that_somebody_else_is_at_work_in(run):
    handle = os.open(run, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="PPF965"), writing.run_lock(run, patience=0.2):
            pass
    finally:
        os.close(handle)
    with writing.run_lock(run, patience=0.2):
        pass


@pytest.mark.parametrize("step", ["fsync", "rename"])
def test_a_machine_that_fails_leaves_nothing_half_written(run, monkeypatch, step):
    def fail(*_args, **_named):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        if step == "fsync":
            patched.setattr(os, "fsync", fail)
        else:
            patched.setattr(type(run), "rename", fail)
        with pytest.raises(RunError, match="PPF730"):
            sign_run(run, key("alice"), "data-owner", utc_now())
    assert [p for p in run.rglob("*") if "attest" in p.name and p.is_file()] == []
    assert not list(run.glob(".signing-*"))


def test_what_a_killed_process_left_is_removed(run):
    (run / ".signing-123-abcdef").write_text("half")
    assert not verify(run, None, no_plan).holds
    (run / ".signing-123-abcdef").rename(run / ".signing-1-a")
    (run / ".signing-1-a").unlink()
    (run / ".signing-123-abcdef").write_text("half")
    with writing.run_lock(run):
        pass
    sign_run(run, key("alice"), "data-owner", utc_now())
    assert verify(run, None, no_plan, signers=PEOPLE).holds


def test_copies_are_told_from_runs(whole_run, tmp_path):
    """The fixture leaves the shared run as it is."""
    assert files(copied(whole_run, tmp_path / "again")) == files(whole_run)
    assert not (whole_run / "attestations").exists()
