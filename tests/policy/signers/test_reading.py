"""The list of signers: what it says, what is wrong with one, and what of a wrong file is never quoted."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import jsonschema
import pytest
import yaml
from signed_runs import key, signer, written

from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.evidence.signers import Revocation
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.report import diagnostics as drawing

ALICE, BOB = key("alice").public.text, key("bob").public.text
PEM = key("carol").public.pem.replace("\n", "\n      ").rstrip()
WHOLE = f"""
version: 1
signers:
  alice:
    roles: [author, data-owner]
    key: {ALICE} alice@example.org
    from: 2026-01-01
    until: 2027-12-31
  bob@example.org: {{roles: [privacy-officer], key: "{BOB}", revoked: {{on: 2026-06-01, reason: key lost}}}}
  carol:
    roles: [reader]
    pem: |
      {PEM}
"""


@pytest.fixture
def file(tmp_path):
    def make(text: str) -> Path:
        path = tmp_path / "signers.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def drawn(error) -> str:
    return drawing.render(error.diagnostics, error.sources)


def test_a_whole_list(file):
    people = read_signers(file(WHOLE))
    assert [s.name for s in people] == ["alice", "bob@example.org", "carol"]
    alice, bob, carol = people
    assert (alice.roles, alice.first, alice.last) == ({"author", "data-owner"}, date(2026, 1, 1), date(2027, 12, 31))
    assert alice.key == key("alice").public
    assert bob.revoked == Revocation(date(2026, 6, 1), "key lost")
    assert carol.key == key("carol").public
    assert people.of_key(key("carol").public.key_id) is carol
    assert len(people.digest) == 64


def test_what_tests_write_is_read(file):
    people = [
        signer("alice", "author", "data-owner", first=date(2026, 1, 1), last=date(2026, 2, 1)),
        signer("bob", "reader", revoked=Revocation(date(2026, 1, 1), "gone")),
    ]
    assert list(read_signers(file(written(people)))) == people


def one(**parts: str) -> str:
    """A list with one signer of these parts."""
    said = {"roles": "[author]", "key": f'"{ALICE}"', **parts}
    return "version: 1\nsigners:\n  alice:\n" + "".join(f"    {k}: {v}\n" for k, v in said.items() if v)


FAULTS = {
    "no version": ("signers: {alice: {roles: [author], key: x}}", "PPF202", "signers"),
    "another version": (one().replace("version: 1", "version: 2"), "PPF207", "2"),
    "an unknown key": (one(role="author"), "PPF201", "role"),
    "no roles": (one(roles=""), "PPF202", "alice"),
    "empty roles": (one(roles="[]"), "PPF209", "[]"),
    "a role that is no name": (one(roles="['data owner']"), "PPF206", "'data owner'"),
    "no signer": ("version: 1\nsigners: {}", "PPF209", "{}"),
    "no key": (one(key=""), "PPF351", "alice"),
    "two keys": (one(pem="x"), "PPF351", "alice"),
    "a key of another algorithm": (one(key="ecdsa-sha2-nistp256 AAAA"), "PPF351", "key"),
    "an RSA key": (one(key="ssh-rsa AAAA"), "PPF351", "key"),
    "a key that is cut off": (one(key=ALICE[:-4]), "PPF351", "key"),
    "a key of small order": (
        one(key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        "PPF351",
        "key",
    ),
    "a day that is none": (one(until="2026-02-30"), "PPF354", "2026-02-30"),
    "a day in words": (one(**{"from": "tomorrow"}), "PPF354", "tomorrow"),
    "days in the wrong order": (one(**{"from": "2026-02-01", "until": "2026-01-01"}), "PPF354", "2026-01-01"),
    "a revocation without a reason": (one(revoked="{on: 2026-01-01, reason: ' '}"), "PPF354", "' '"),
    "a revocation without a day": (one(revoked="{reason: lost}"), "PPF202", "revoked"),
    "a name twice": (
        f"version: 1\nsigners:\n  alice: {{roles: [a], key: {ALICE}}}\n  alice: {{roles: [a], key: {BOB}}}",
        "PPF107",
        "alice",
    ),
    "a name in capitals": (
        f"version: 1\nsigners:\n  alice: {{roles: [a], key: {ALICE}}}\n  Alice: {{roles: [a], key: {BOB}}}",
        "PPF352",
        "Alice",
    ),
    "a name in wide letters": (
        f"version: 1\nsigners:\n  alice: {{roles: [a], key: {ALICE}}}\n  ａlice: {{roles: [a], key: {BOB}}}",
        "PPF352",
        "ａlice",
    ),
    "a name with a blank": (f"version: 1\nsigners:\n  'alice ': {{roles: [a], key: {ALICE}}}", "PPF352", "'alice '"),
    "a name that does not show": (
        f'version: 1\nsigners:\n  "al\\u200bice": {{roles: [a], key: {ALICE}}}',
        "PPF352",
        '"al',
    ),
    "one key for two": (
        f"version: 1\nsigners:\n  alice: {{roles: [a], key: {ALICE}}}\n  bob: {{roles: [a], key: {ALICE} b}}",
        "PPF353",
        "bob",
    ),
    "one key in two forms": (
        (
            f"version: 1\nsigners:\n  carol: {{roles: [a], key: {key('carol').public.text}}}\n"
            f"  bob:\n    roles: [a]\n    pem: |\n      {PEM}\n"
        ),
        "PPF353",
        "bob",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_drawn_at_its_place(file, what):
    text, code, place = FAULTS[what]
    path = file(text)
    with pytest.raises(PolicyError) as caught:
        read_signers(path, "signers.yaml")
    fault = caught.value.diagnostics[0]
    assert fault.code == code, drawn(caught.value)
    assert fault.span is not None
    line = text.splitlines()[fault.span.line - 1]
    assert line[fault.span.column - 1 :].startswith(place), drawn(caught.value)
    assert "--> signers.yaml:" in drawn(caught.value)


def test_all_faults_at_once(file):
    text = f"version: 1\nsigners:\n  alice: {{roles: [a], key: {ALICE}, until: x}}\n  Alice: {{roles: [a], key: y}}\n"
    with pytest.raises(PolicyError) as caught:
        read_signers(file(text))
    assert [d.code for d in caught.value.diagnostics] == ["PPF354", "PPF352", "PPF351"]


PRIVATE = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
"""


@pytest.mark.parametrize(
    "text",
    [
        PRIVATE,
        "patient,illness\nWeber,flu\n",
        "patient: Weber\nillness: flu\n",
        "- Weber\n",
        "Weber: [",
        "Weber: flu\n\x00",
        "",
        one(key=json.dumps(PRIVATE)),
        one(key="", pem="|\n" + "".join(f"      {line}\n" for line in PRIVATE.splitlines())),
    ],
)
def test_nothing_of_another_file_or_of_a_private_key_is_quoted(file, text):
    with pytest.raises(PolicyError) as caught:
        read_signers(file(text))
    shown = drawn(caught.value)
    assert "MC4C" not in shown
    assert "Weber" not in shown
    assert "PPF" in shown


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"PPF350.*cannot read"):
        read_signers(tmp_path / "nothing.yaml")
    with pytest.raises(UsageError, match=r"PPF350.*cannot read"):
        read_signers(tmp_path)


def test_a_list_is_no_longer_than_pages_can_read(tmp_path):
    file = tmp_path / "signers.yaml"
    file.write_text(WHOLE + "#" * (64_000 - len(WHOLE.encode())))
    read_signers(file)
    file.write_text(WHOLE + "#" * (64_001 - len(WHOLE.encode())))
    with pytest.raises(UsageError, match=r"PPF350.*larger than 64,000 bytes"):
        read_signers(file)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "signers.yaml")
    with pytest.raises(UsageError, match=r"PPF350.*it is no ordinary file"):
        read_signers(tmp_path / "signers.yaml")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "signers.yaml").write_bytes(b"signers: \xff")
    with pytest.raises(PolicyError, match="PPF102"):
        read_signers(tmp_path / "signers.yaml")


def test_the_published_schema_says_the_same(root):
    schema = json.loads((root / "schemas" / "signers.v1.json").read_text())
    jsonschema.validate(yaml.load(WHOLE, Loader=yaml.BaseLoader), schema)
    jsonschema.validate({"version": 1, "signers": {"a": {"roles": ["r"], "key": ALICE}}}, schema)
    for wrong in ("no version", "an unknown key", "no roles", "empty roles", "no key", "two keys", "no signer"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.load(FAULTS[wrong][0], Loader=yaml.BaseLoader), schema)
