"""A released folder alone: its holder finds out who signed it, and whether it is what was signed."""

from __future__ import annotations

import json
import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.api.released_folder import verified, verify_folder
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.evidence.signing import sign_run
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.evidence.keys import SigningKey
from ppdm_flow.report.verify import VERIFIED

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  name: {role: identifier}
  job: {role: quasi_identifier}
  town: {role: quasi_identifier}
privacy: {k_anonymity: {k: 3}}
steps:
  one: {use: mondrian, input: source}
  two: {use: mondrian, input: source, with: {cut: median}}
releases:
  near: {path: near.csv, from: one}
  far: {path: far.csv, from: two, partition_by: [town]}
"""
ALICE, BOB = (SigningKey.from_seed(bytes([number]) * 32) for number in (1, 2))
SIGNERS = f"""version: 1
signers:
  alice: {{roles: [author, data-owner], key: {ALICE.public.text}}}
  bob: {{roles: [privacy-officer], key: {BOB.public.text}}}
"""


def run_in(home: Path, policy: str = POLICY) -> Path:
    rows = "".join(f"n{i},job{i % 4},town{i % 2}\n" for i in range(48))
    (home / "table.csv").write_text(f"name,job,town\n{rows}")
    (home / "policy.yaml").write_text(policy)
    return api.run(home / "policy.yaml", out=home / "out").run_dir


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> Path:
    run = run_in(tmp_path_factory.mktemp("signed"))
    sign_run(run, ALICE, "data-owner", utc_now())
    sign_run(run, BOB, "privacy-officer", utc_now())
    return run


@pytest.fixture(scope="module")
def signers(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("signers") / "signers.yaml"
    file.write_text(SIGNERS)
    return file


@pytest.fixture
def copy(signed, tmp_path) -> Path:
    return Path(shutil.copytree(signed / "released/near", tmp_path / "got by post"))


def test_a_copied_folder_verifies_by_itself(copy, signers):
    outcome = verify_folder(copy, signers)
    assert outcome.holds
    (release,) = outcome.releases
    assert (release.release, release.policy, release.files) == ("near", "visits", 4)
    assert {(s.signer, s.role) for s in release.signatures} == {("alice", "data-owner"), ("bob", "privacy-officer")}
    assert "by `alice` as `data-owner`" in outcome.text
    assert "got by post is as it was signed: 4 files hashed" in outcome.text


def test_so_do_all_releases_together_and_a_partitioned_one(signed, tmp_path, signers):
    place = Path(shutil.copytree(signed / "released", tmp_path / "elsewhere"))
    outcome = verify_folder(place, signers)
    assert outcome.holds
    assert [r.release for r in outcome.releases] == ["far", "near"]
    assert verify_folder(place / "far", signers).holds


def test_without_signers_hashes_are_checked_and_that_people_were_not_is_said(copy):
    outcome = verify_folder(copy)
    assert outcome.holds
    assert "WHO signed it was not checked" in outcome.text
    (copy / "near.csv").write_text("job,town\n")
    assert not verify_folder(copy).holds


@pytest.mark.parametrize("listed", [True, False])
def test_without_an_attestation_nothing_vouches(copy, signers, listed):
    shutil.rmtree(copy / "attestations")
    outcome = verify_folder(copy, signers if listed else None)
    assert not outcome.holds
    assert "NOTHING vouches for it" in outcome.text


def _touch(path: Path, text: str = "x") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _linked(path: Path) -> None:
    path.rename(path.parent.parent / "moved")
    path.symlink_to(path.parent.parent / "moved")


TAMPERED = {
    "a byte of the data": lambda f: _touch(f / "near.csv", (f / "near.csv").read_text().replace("job", "jib", 1)),
    "a line of the sheet": lambda f: _touch(f / "datasheet.md", (f / "datasheet.md").read_text() + "\n"),
    "a file more": lambda f: _touch(f / "readme.txt"),
    "a hidden file more": lambda f: _touch(f / ".hidden"),
    "a file in a folder more": lambda f: _touch(f / "sub/readme.txt"),
    "a manifest more": lambda f: _touch(f / "manifest.json", "{}"),
    "a file less": lambda f: (f / "dictionary.json").unlink(),
    "a link in place of a file": lambda f: _linked(f / "near.csv"),
    "a file renamed": lambda f: (f / "near.csv").rename(f / "Near.csv"),
    "a file beside the envelopes": lambda f: _touch(f / "attestations/readme.txt"),
    "a folder beside the envelopes": lambda f: (f / "attestations/sub").mkdir(),
    "a file below the envelopes": lambda f: _touch(f / "attestations/sub/x"),
    "an envelope by another name": lambda f: next((f / "attestations").iterdir()).rename(f / "attestations/a.json"),
    "an envelope cut": lambda f: _touch(next((f / "attestations").iterdir()), "{}"),
}  # fmt: skip


@pytest.mark.parametrize("how", TAMPERED)
@pytest.mark.parametrize("listed", [True, False])
def test_what_is_not_as_it_was_signed_is_found(copy, signers, how, listed):
    TAMPERED[how](copy)
    assert not verify_folder(copy, signers if listed else None).holds


def test_what_differs_is_named(copy, signers):
    (copy / "near.csv").write_text("x")
    (copy / "extra.txt").write_text("x")
    (copy / "dictionary.json").unlink()
    (release,) = verify_folder(copy, signers).releases
    told = release.differences
    assert (told.changed, told.missing, told.extra) == (("near.csv",), ("dictionary.json",), ("extra.txt",))
    assert "changed: near.csv" in release.lines


@pytest.mark.slow
def test_single_bytes_changed_anywhere_are_found(copy, signers):
    draw = random.Random(20)
    files = sorted(p for p in copy.rglob("*") if p.is_file())
    for _ in range(300):
        path = draw.choice(files)
        before = path.read_bytes()
        place = draw.randrange(len(before))
        path.write_bytes(before[:place] + bytes([before[place] ^ draw.randrange(1, 256)]) + before[place + 1 :])
        assert not verify_folder(copy, signers).holds, (path.name, place)
        assert not verify_folder(copy).holds, (path.name, place)
        path.write_bytes(before)
    assert verify_folder(copy, signers).holds


def test_an_attestation_of_another_release_or_run_is_found(signed, copy, signers, tmp_path):
    for envelope in (signed / "released/far/attestations").iterdir():
        shutil.copy(envelope, copy / "attestations")
    assert not verify_folder(copy, signers).holds
    (tmp_path / "second").mkdir()
    other = run_in(tmp_path / "second", POLICY.replace("k: 3", "k: 4"))
    sign_run(other, ALICE, "data-owner", utc_now())
    shutil.rmtree(copy / "attestations")
    shutil.copytree(other / "released/near/attestations", copy / "attestations")
    outcome = verify_folder(copy, signers)
    assert not outcome.holds
    assert "it is about other files" in outcome.text


@pytest.mark.slow
def test_one_more_attestation_of_another_run_is_found_though_its_own_fits(signed, copy, signers, tmp_path):
    (tmp_path / "second").mkdir()
    other = run_in(tmp_path / "second", POLICY.replace("k: 3", "k: 4"))
    sign_run(other, ALICE, "author", utc_now())
    (envelope,) = (other / "released/near/attestations").iterdir()
    shutil.copy(envelope, copy / "attestations")
    assert not verify_folder(copy, signers).holds
    assert not verify_folder(copy).holds


def test_folders_of_two_runs_do_not_belong_together(signed, signers, tmp_path):
    place = Path(shutil.copytree(signed / "released", tmp_path / "mixed"))
    (tmp_path / "second").mkdir()
    other = run_in(tmp_path / "second", POLICY.replace("k: 3", "k: 4"))
    sign_run(other, ALICE, "data-owner", utc_now())
    shutil.rmtree(place / "far")
    shutil.copytree(other / "released/far", place / "far")
    outcome = verify_folder(place, signers)
    assert not outcome.holds
    assert "another run" in outcome.text


def test_folders_that_changed_their_names_are_found(signed, signers, tmp_path):
    place = Path(shutil.copytree(signed / "released", tmp_path / "swapped"))
    (place / "far").rename(place / "x")
    (place / "near").rename(place / "far")
    (place / "x").rename(place / "near")
    outcome = verify_folder(place, signers)
    assert not outcome.holds
    assert "another release than its name says" in outcome.text


def test_a_file_beside_the_releases_is_found(signed, signers, tmp_path):
    place = Path(shutil.copytree(signed / "released", tmp_path / "more"))
    (place / "readme.txt").write_text("x")
    assert not verify_folder(place, signers).holds


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (SIGNERS.replace(ALICE.public.text, SigningKey.from_seed(b"3" * 32).public.text), "no signer has this key"),
        (SIGNERS.replace("author, data-owner", "author"), "has no role `data-owner`"),
        (SIGNERS.replace("alice: {", "alice: {until: 2020-01-01, "), "was valid no more"),
        (SIGNERS.replace("alice: {", "alice: {revoked: {on: 2026-01-01, reason: lost}, "), "was revoked"),
    ],
)
def test_a_signature_that_does_not_count_is_told(copy, tmp_path, written, why):
    (tmp_path / "s.yaml").write_text(written)
    outcome = verify_folder(copy, tmp_path / "s.yaml")
    assert not outcome.holds
    assert why in outcome.text


@pytest.mark.slow
def test_signatures_of_the_future_do_not_count(copy, signers):
    assert not verify_folder(copy, signers, now=lambda: datetime.now(UTC) - timedelta(days=2)).holds


def test_every_form_tells_it(copy, signers):
    good = verified(copy, signers=signers)
    assert good.holds
    document = json.loads(VERIFIED["json"].render(good))
    assert document["holds"]
    assert {s["signer"] for s in document["signatures"]} == {"alice", "bob"}
    assert all(s["counts"] for s in document["signatures"])
    (copy / "near.csv").write_text("x")
    bad = verified(copy, signers=signers)
    assert not bad.holds
    for form in VERIFIED.values():
        assert "near.csv" in form.render(bad), form.name


def test_a_run_is_verified_as_a_run(signed, signers):
    assert verified(signed, signers=signers).holds
    assert verified(signed / "released", signers=signers).holds
    assert verified(signed).verdict == "released"


def test_a_folder_cannot_be_measured_again(copy, signed):
    with pytest.raises(UsageError, match="cannot be measured again"):
        verified(copy, signed.parents[1] / "table.csv")


def test_what_is_no_folder_of_a_release_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is no released folder"):
        verify_folder(tmp_path)
    with pytest.raises(UsageError, match=r"holds no `manifest.json`"):
        verified(tmp_path)
    with pytest.raises(UsageError, match="is no released folder"):
        verify_folder(tmp_path / "nowhere")


@pytest.mark.slow
def test_the_command_says_it_and_ends_so(cli, copy, signers):
    done = cli("verify", copy, "--signers", signers)
    assert done.returncode == 0
    assert "as `privacy-officer`" in done.stdout
    (copy / "datasheet.html").unlink()
    done = cli("verify", copy, "--signers", signers)
    assert done.returncode == 1
    assert "missing: datasheet.html" in done.stdout
