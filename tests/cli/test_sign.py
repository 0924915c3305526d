"""Keys, signatures and who signed what, as typed: `key`, `sign`, `verify --signers`."""

from __future__ import annotations

import io
import json
import shutil
import stat
from xml.etree import ElementTree as ET

import pytest
from cryptography.hazmat.primitives import serialization as forms
from signed_runs import copied, key, signer, small_run, written

from ppdm_flow.cli.terminal import password
from ppdm_flow.evidence.key_files import is_encrypted, read_signing_key, write_key_pair
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.sdk.spec import PASSWORD_VARIABLE

PEOPLE = (signer("alice", "author", "data-owner"), signer("bob", "privacy-officer"))


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("signing"))


@pytest.fixture
def home(whole_run, tmp_path, monkeypatch):
    """A folder with a run, the keys of alice and bob, and the list of signers."""
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    copied(whole_run, tmp_path / "runs")
    for name in ("alice", "bob"):
        write_key_pair(tmp_path / f"{name}.key", key(name))
    (tmp_path / "signers.yaml").write_text(written(PEOPLE))
    return tmp_path


@pytest.fixture
def run(home, whole_run):
    return home / "runs" / "clinic" / whole_run.name


@pytest.fixture
def ppdm(here, home):
    return lambda *words: here(*words, cwd=home)


def test_a_key_and_its_entry(ppdm, home):
    done = ppdm("key", "carol.key", "--comment", "carol", "--role", "reader", "--role", "author")
    assert done.returncode == 0
    assert stat.S_IMODE((home / "carol.key").stat().st_mode) == 0o600
    public = read_signing_key(home / "carol.key").public
    assert done.stdout == f"  carol:\n    roles: [reader, author]\n    key: {public.text}\n"
    (home / "list.yaml").write_text(f"version: 1\nsigners:\n{done.stdout}")
    (carol,) = read_signers(home / "list.yaml")
    assert (carol.name, carol.key, carol.roles) == ("carol", public, {"reader", "author"})
    assert "PRIVATE" not in done.stdout + done.stderr
    shown = ppdm("key", "--show", "carol.key")
    assert shown.stdout == f"{public.text}\n"
    assert public.key_id in shown.stderr
    assert ppdm("key", "carol.key.pub", "--show").stdout == shown.stdout


def test_an_entry_without_roles_has_to_be_filled_in(ppdm, home):
    done = ppdm("key", "dora.key", "--comment", "dora@example.org", "--pem")
    assert (home / "dora.key").read_text().startswith("-----BEGIN PRIVATE KEY-----")
    (home / "list.yaml").write_text(f"version: 1\nsigners:\n{done.stdout}")
    refused = ppdm("verify", "runs", "--signers", "list.yaml")
    assert refused.returncode == 2
    assert "PPF209" in refused.stderr
    (home / "list.yaml").write_text(f"version: 1\nsigners:\n{done.stdout.replace('[]', '[reader]')}")
    assert [s.name for s in read_signers(home / "list.yaml")] == ["dora@example.org"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("alice.key",), "PPF673"),
        (("new.key", "--role", "no role"), "PPF963"),
        (("new.key", "--comment", "a\nb"), "PPF673"),
        (("nowhere/new.key",), "PPF693"),
        (("signers.yaml", "--show"), "PPF960"),
        (("nothing.key", "--show"), "PPF960"),
    ],
)
def test_keys_that_are_not_made(ppdm, home, words, code):
    before = (home / "alice.key").read_bytes()
    done = ppdm("key", *words)
    assert done.returncode == (3 if code == "PPF693" else 2)
    assert code in done.stderr
    assert (home / "alice.key").read_bytes() == before
    assert not (home / "new.key").exists()


def test_a_key_that_is_shown_is_as_it_is(ppdm):
    assert ppdm("key", "alice.key", "--show", "--pem").returncode == 2
    assert ppdm("key", "alice.key", "--show", "--encrypt").returncode == 2


@pytest.mark.slow
def test_a_key_is_made_encrypted_and_signs_with_its_password_alone(ppdm, home, run, monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, "open sesame")
    done = ppdm("key", "carol.key", "--comment=carol", "--encrypt")
    assert done.returncode == 0
    assert "sesame" not in done.stdout + done.stderr
    assert stat.S_IMODE((home / "carol.key").stat().st_mode) == 0o600
    assert is_encrypted((home / "carol.key").read_bytes())
    assert not is_encrypted((home / "alice.key").read_bytes())
    assert ppdm("key", "--show", "carol.key").stdout.split() == (home / "carol.key.pub").read_text().split()[:2]
    assert ppdm("sign", run, "--key", "carol.key", "--role", "reader").returncode == 0
    monkeypatch.setenv(PASSWORD_VARIABLE, "open barley")
    assert "PPF961" in ppdm("sign", run, "--key", "carol.key", "--role", "other").stderr


@pytest.mark.slow
def test_no_key_is_made_without_the_password_that_is_to_encrypt_it(ppdm, home, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    done = ppdm("key", "carol.key", "--encrypt")
    assert done.returncode == 2
    assert "PPF961" in done.stderr
    assert ppdm("key", "carol.key", "--encrypt", "--pem").returncode == 2

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    typed = iter(["open sesame", "open sesam", "", "", "open sesame", "open sesame"])
    monkeypatch.setattr(password.getpass, "getpass", lambda _text: next(typed))
    for _ in range(2):
        assert "PPF961" in ppdm("key", "carol.key", "--encrypt").stderr
        assert not (home / "carol.key").exists()
    assert ppdm("key", "carol.key", "--encrypt").returncode == 0
    assert read_signing_key(home / "carol.key", lambda: b"open sesame")


def test_sign_and_say_who_did(ppdm, run):
    done = ppdm("sign", run, "--key", "alice.key", "--role", "data-owner")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [str(p) for p in sorted((run / "attestations").iterdir())]
    assert ppdm("sign", run, "--key", "bob.key", "--role", "privacy-officer", "--release", "study").returncode == 0
    told = ppdm("verify", run, "--signers", "signers.yaml")
    assert told.returncode == 0
    lines = told.stdout.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("release `office` was signed by `alice` as `data-owner` on 20")
    assert lines[2].startswith("release `study` was signed by `bob` as `privacy-officer` on 20")
    again = ppdm("sign", run, "--key", "alice.key", "--role", "data-owner")
    assert "signed before" in again.stderr
    assert again.stdout == done.stdout


def test_without_a_list_keys_are_told_and_no_names(ppdm, run):
    ppdm("sign", run, "--key", "alice.key", "--role", "data-owner")
    told = ppdm("verify", run)
    assert told.returncode == 0
    assert "alice" not in told.stdout
    assert key("alice").public.key_id[:16] in told.stdout
    assert "--signers FILE" in told.stdout


def test_what_is_not_signed_by_somebody_on_the_list(ppdm, run):
    told = ppdm("verify", run, "--signers", "signers.yaml")
    assert told.returncode == 1
    assert "release `office` is not signed by anybody on the list" in told.stdout
    assert "is as it was, and NOT signed as it has to be" in told.stdout
    ppdm("sign", run, "--key", "bob.key", "--role", "data-owner")
    told = ppdm("verify", run, "--signers", "signers.yaml")
    assert told.returncode == 1
    assert "does NOT count, `bob` has no role `data-owner`" in told.stdout


def test_signatures_in_json(ppdm, run):
    ppdm("sign", run, "--key", "alice.key", "--role", "data-owner", "--release", "study")
    told = json.loads(ppdm("verify", run, "--signers", "signers.yaml", "--format", "json").stdout)
    assert told["holds"] is False
    (signature,) = told["signatures"]
    assert {k: v for k, v in signature.items() if k not in ("signed", "key_id")} == {
        "file": f"attestations/data-owner-{key('alice').public.key_id[:16]}-study.json",
        "release": "study",
        "role": "data-owner",
        "signer": "alice",
        "counts": True,
        "fault": "",
    }
    points = {point["name"]: point["holds"] for point in told["points"]}
    assert points["signature data-owner of study"] is True
    assert points["signatures of office"] is False
    alone = json.loads(ppdm("verify", run, "--format", "json").stdout)
    assert (alone["holds"], alone["signatures"][0]["counts"], alone["signatures"][0]["signer"]) == (True, None, "")


def test_signatures_in_the_other_forms(ppdm, run):
    ppdm("sign", run, "--key", "alice.key", "--role", "data-owner")
    ppdm("sign", run, "--key", "bob.key", "--role", "author")
    words = [w for form in ("junit", "github", "markdown") for w in ("--format", form, "-o", f"out.{form}")]
    done = ppdm("verify", run, "--signers", "signers.yaml", *words)
    assert done.returncode == 1
    home = run.parents[2]
    cases = {case.get("name"): case for case in ET.parse(home / "out.junit").iter("testcase")}
    assert cases["signature author of study"].find("failure") is not None
    assert cases["signature data-owner of study"].find("failure") is None
    assert "::error" in (home / "out.github").read_text()
    assert "no role `author`" in (home / "out.markdown").read_text().replace("\\", "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--key", "nothing.key", "--role", "author"), "PPF960"),
        (("--key", "signers.yaml", "--role", "author"), "PPF960"),
        (("--key", "alice.key.pub", "--role", "author"), "PPF960"),
        (("--key", "alice.key", "--role", "no role"), "PPF963"),
        (("--key", "alice.key", "--role", "author", "--release", "studi"), "PPF963"),
    ],
)
def test_what_cannot_be_signed_with(ppdm, home, run, words, code):
    (home / "signers.yaml").chmod(0o600)
    (home / "alice.key.pub").chmod(0o600)
    done = ppdm("sign", run, *words)
    assert done.returncode == 2
    assert code in done.stderr
    assert not (run / "attestations").exists()


def test_a_key_that_others_may_read(ppdm, home, run):
    (home / "alice.key").chmod(0o644)
    done = ppdm("sign", run, "--key", "alice.key", "--role", "author")
    assert done.returncode == 2
    assert "PPF920" in done.stderr


def test_no_run(ppdm):
    done = ppdm("sign", "nowhere", "--key", "alice.key", "--role", "author")
    assert done.returncode == 2
    assert "PPF750" in done.stderr


@pytest.fixture
def encrypted(home):
    file = home / "secret.key"
    file.write_bytes(
        key("alice").private.private_bytes(
            forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.BestAvailableEncryption(b"open sesame")
        )
    )
    file.chmod(0o600)
    return file


def test_the_password_of_a_key(ppdm, run, encrypted, monkeypatch):
    words = ("sign", run, "--key", encrypted.name, "--role", "author")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    done = ppdm(*words)
    assert done.returncode == 2
    assert "PPF961" in done.stderr
    assert PASSWORD_VARIABLE in done.stderr
    monkeypatch.setenv(PASSWORD_VARIABLE, "open barley")
    assert "PPF961" in ppdm(*words).stderr
    monkeypatch.setenv(PASSWORD_VARIABLE, "open sesame")
    done = ppdm(*words)
    assert done.returncode == 0
    assert "sesame" not in done.stdout + done.stderr


def test_a_person_at_the_terminal_is_asked(ppdm, run, encrypted, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    asked = []
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(password.getpass, "getpass", lambda text: asked.append(text) or "open sesame")
    assert ppdm("sign", run, "--key", encrypted.name, "--role", "author").returncode == 0
    assert asked == ["Password of the key: "]
    assert ppdm("sign", run, "--key", "alice.key", "--role", "data-owner").returncode == 0
    assert len(asked) == 1


def test_a_signed_run_goes_on_with_everything_else(ppdm, run):
    """Reports, and what reads releases, do not mind the signatures beside them."""
    before = ppdm("report", run).stdout
    ppdm("sign", run, "--key", "alice.key", "--role", "data-owner")
    assert ppdm("report", run).stdout == before
    assert ppdm("verify", run, "--data", "clinic.csv").returncode == 2
    shutil.copy(run.parents[2] / "alice.key", run.parents[2] / "keep")
    refused = ppdm("report", run, "--format", "json", "--output-file", "alice.key")
    assert refused.returncode == 2
    assert "PPF664" in refused.stderr
    assert (run.parents[2] / "keep").read_bytes() == (run.parents[2] / "alice.key").read_bytes()
