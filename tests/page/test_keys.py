"""A person's signing key on the server: made or brought under a passphrase that is nowhere kept, one a person."""

from __future__ import annotations

import base64
import stat
import time

import pytest
from people_with_keys import PASSPHRASE
from sites import PATIENCE, Browser, Server

from ppdm_flow.evidence.key_files import read_signing_key, write_key_pair
from ppdm_flow.evidence.keys import SigningKey
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.keys import KeyState


def _settled(server: Server, role: PageRole):
    user = server.users[role]
    server.site.jobs.finished(server.site.jobs.of(user)[0], PATIENCE)
    return server.site.keys.of(user)


@pytest.fixture
def encrypted(tmp_path):
    """The text of an encrypted key, and the key."""
    key = SigningKey.generate()
    write_key_pair(tmp_path / "own.key", key, password=PASSPHRASE.encode())
    return (tmp_path / "own.key").read_text(), key


def _everywhere(server: Server) -> bytes:
    state = server.site.settings.state
    return b"".join(p.read_bytes() for p in sorted(state.rglob("*")) if p.is_file())


def test_a_key_is_made_encrypted_and_its_passphrase_is_nowhere_on_the_server(server: Server):
    browser, user = server.browser(PageRole.APPROVER), server.users[PageRole.APPROVER]
    assert "You have no key yet" in browser.get("/key").text
    answer = browser.send("/key/make", passphrase=PASSPHRASE, again=PASSPHRASE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/key")
    own = _settled(server, PageRole.APPROVER)
    assert own.state is KeyState.READY
    assert stat.S_IMODE(own.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(own.folder.stat().st_mode) == 0o700
    assert read_signing_key(own.path, PASSPHRASE.encode).public == own.public
    page = browser.get("/key").text
    assert own.public.text in page
    assert own.public.key_id in page
    assert browser.get("/key/public").text == f"{own.public.text}\n"
    assert PASSPHRASE.encode() not in _everywhere(server)
    assert server.site.keys.signing(user, PASSPHRASE).key == own.path
    assert PASSPHRASE not in repr(server.site.keys.signing(user, PASSPHRASE))


def test_a_key_that_somebody_has_is_taken_with_its_passphrase(server: Server, encrypted):
    text, key = encrypted
    browser = server.browser(PageRole.STEWARD)
    assert browser.send("/key/bring", key=text.replace("\n", "\r\n"), passphrase=PASSPHRASE).status_code == 303
    own = _settled(server, PageRole.STEWARD)
    assert (own.state, own.public) == (KeyState.READY, key.public)
    assert PASSPHRASE.encode() not in _everywhere(server)


@pytest.mark.slow
def test_a_wrong_passphrase_keeps_nothing_and_another_try_is_free(server: Server, encrypted):
    text, key = encrypted
    browser = server.browser(PageRole.STEWARD)
    browser.send("/key/bring", key=text, passphrase="four brown horses waiting")
    own = _settled(server, PageRole.STEWARD)
    assert (own.state, own.fault) == (KeyState.FAILED, "keys.wrong_passphrase")
    assert list((server.site.settings.state / "keys").iterdir()) == []
    assert "does not open this key" in browser.get("/key").text
    browser.send("/key/bring", key=text, passphrase=PASSPHRASE)
    assert _settled(server, PageRole.STEWARD).public == key.public


def _rsa_key(*exponents: int) -> str:
    """Return an RSA key of two Mersenne primes in PEM: whether they are primes is tested for long."""
    p, q = (2**exponent - 1 for exponent in exponents)
    e = 65_537
    d = pow(e, -1, (p - 1) * (q - 1))
    numbers = (0, p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
    text = base64.encodebytes(_der(0x30, *(_der(2, n.to_bytes(n.bit_length() // 8 + 1)) for n in numbers))).decode()
    return f"-----BEGIN RSA PRIVATE KEY-----\n{text}-----END RSA PRIVATE KEY-----\n"


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8)
    return bytes([tag, *([len(content)] if len(content) < 128 else [128 + len(length), *length])]) + content


def test_a_key_of_another_kind_is_refused_without_work_in_the_server(server: Server):
    browser, text = server.browser(PageRole.STEWARD), _rsa_key(2_203, 2_281)
    before = time.process_time()
    answer = browser.send("/key/bring", key=text, passphrase=PASSPHRASE)
    assert answer.status_code == 400
    assert "no private key in OpenSSH" in answer.text
    assert time.process_time() - before < 0.5, "its primes take more than a second"
    assert server.site.keys.of(server.users[PageRole.STEWARD]) is None


def test_keys_that_are_not_encrypted_or_none_are_refused_and_not_kept(server: Server, tmp_path):
    browser = server.browser(PageRole.STEWARD)
    write_key_pair(tmp_path / "open.key", SigningKey.generate())
    write_key_pair(tmp_path / "open.pem", SigningKey.generate(), pem=True)
    for text in ((tmp_path / "open.key").read_text(), (tmp_path / "open.pem").read_text()):
        answer = browser.send("/key/bring", key=text, passphrase=PASSPHRASE)
        assert answer.status_code == 400
        assert "not encrypted" in answer.text
        assert text.splitlines()[1] not in answer.text
        assert text.splitlines()[1].encode() not in _everywhere(server)
    for text in ("", "hello", "x" * 7_000, (tmp_path / "open.key.pub").read_text()):
        assert browser.send("/key/bring", key=text, passphrase=PASSPHRASE).status_code == 400
    assert server.site.keys.of(server.users[PageRole.STEWARD]) is None
    assert server.site.jobs.of(server.users[PageRole.STEWARD]) == []


@pytest.mark.parametrize(
    ("passphrase", "again"),
    [
        ("tiny words", "tiny words"),
        (PASSPHRASE, f"{PASSPHRASE}!"),
        ("a\x00bcdefghijklmn",) * 2,
        ("x" * 300,) * 2,
        ("", ""),
    ],
)
def test_passphrases_that_protect_nothing_make_no_key(server: Server, passphrase, again):
    answer = server.browser(PageRole.STEWARD).send("/key/make", passphrase=passphrase, again=again)
    assert answer.status_code == 400
    assert not passphrase or passphrase not in answer.text
    assert server.site.keys.of(server.users[PageRole.STEWARD]) is None


@pytest.mark.slow
def test_a_key_belongs_to_one_person_and_a_person_has_one(server: Server, encrypted):
    text, key = encrypted
    steward, approver = server.browser(PageRole.STEWARD), server.browser(PageRole.APPROVER)
    steward.send("/key/bring", key=text, passphrase=PASSPHRASE)
    assert _settled(server, PageRole.STEWARD).public == key.public
    approver.send("/key/bring", key=text, passphrase=PASSPHRASE)
    other = _settled(server, PageRole.APPROVER)
    assert (other.state, other.fault) == (KeyState.FAILED, "keys.taken")
    assert not other.folder.exists()
    assert steward.send("/key/make", passphrase=PASSPHRASE, again=PASSPHRASE).status_code == 409
    assert server.site.keys.of(server.users[PageRole.STEWARD]).public == key.public


@pytest.mark.slow
def test_a_deleted_key_is_gone_and_one_that_is_being_made_too(server: Server, encrypted):
    browser, user = server.browser(PageRole.STEWARD), server.users[PageRole.STEWARD]
    browser.send("/key/bring", key=encrypted[0], passphrase=PASSPHRASE)
    own = _settled(server, PageRole.STEWARD)
    assert browser.send("/key/delete").status_code == 303
    assert server.site.keys.of(user) is None
    assert not own.folder.exists()
    browser.send("/key/make", passphrase=PASSPHRASE, again=PASSPHRASE)
    browser.send("/key/delete")
    server.site.jobs.finished(server.site.jobs.of(user)[0], PATIENCE)
    assert server.site.keys.of(user) is None
    assert list((server.site.settings.state / "keys").iterdir()) == []


def test_what_a_server_left_half_made_is_removed_when_it_starts(server: Server, encrypted):
    from ppdm_flow.page.site import opened_site

    server.browser(PageRole.STEWARD).send("/key/bring", key=encrypted[0], passphrase=PASSPHRASE)
    own = _settled(server, PageRole.STEWARD)
    (server.site.settings.state / "keys" / "orphan").mkdir()
    with server.site.database.changing() as connection:
        connection.execute(
            "INSERT INTO keys (account, owner, folder, job, brought, since) VALUES (?, 'approver', 'half', '', 0, ?)",
            (server.users[PageRole.APPROVER].id, own.since.isoformat()),
        )
    again = opened_site(server.site.settings)
    assert [p.name for p in (server.site.settings.state / "keys").iterdir()] == [own.folder.name]
    assert again.keys.of(server.users[PageRole.STEWARD]).public == own.public
    assert again.keys.of(server.users[PageRole.APPROVER]).state is KeyState.FAILED


@pytest.mark.slow
def test_nobody_sees_the_key_of_somebody_else(server: Server, encrypted):
    server.browser(PageRole.STEWARD).send("/key/bring", key=encrypted[0], passphrase=PASSPHRASE)
    _settled(server, PageRole.STEWARD)
    other = server.browser(PageRole.APPROVER)
    assert other.get("/key/public").status_code == 404
    assert encrypted[1].public.text not in other.get("/key").text
    for role in (PageRole.GUEST, PageRole.ADMINISTRATOR):
        assert server.browser(role).get("/key").status_code == 403
    assert Browser(server.site).get("/key").status_code == 303
