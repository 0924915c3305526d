"""Keys: the vectors of RFC 8032 and RFC 8410, texts and files of other programs, and keys that nobody can own."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess

import pytest
from cryptography.hazmat.primitives import serialization as forms
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.evidence.key_files import is_encrypted, read_public_key, read_signing_key, write_key_pair
from ppdm_flow.evidence.keys import PublicKey, SigningKey, is_owned_point
from ppdm_flow.evidence.malformed import MalformedError

RFC_8032 = [  # section 7.1: secret, public, message, signature
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
            "4a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
]
RFC_8410_PRIVATE = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
"""
RFC_8410_PUBLIC = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
"""
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]
ORDER = 2**252 + 27742317777372353535851937790883648493


@pytest.mark.parametrize(("secret", "public", "message", "signature"), RFC_8032)
def test_vectors_of_rfc_8032(secret, public, message, signature):
    key = SigningKey.from_seed(bytes.fromhex(secret))
    assert key.public.raw.hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature
    assert key.public.verify(bytes.fromhex(signature), bytes.fromhex(message))
    assert not key.public.verify(bytes.fromhex(signature), bytes.fromhex(message) + b".")


def test_a_signature_has_one_spelling():
    """s + L is the same number modulo the order of the curve: accepting it would let others change signatures."""
    _, public, message, signature = RFC_8032[1]
    raw = bytes.fromhex(signature)
    other = raw[:32] + (int.from_bytes(raw[32:], "little") + ORDER).to_bytes(32, "little")
    assert not PublicKey(bytes.fromhex(public)).verify(other, bytes.fromhex(message))


def test_keys_of_rfc_8410(tmp_path):
    file = tmp_path / "key"
    file.write_text(RFC_8410_PRIVATE)
    file.chmod(0o600)
    key = read_signing_key(file)
    assert key.public.pem == RFC_8410_PUBLIC
    assert PublicKey.parse(RFC_8410_PUBLIC) == key.public


@given(seed=st.binary(min_size=32, max_size=32))
def test_texts_go_round(seed):
    public = SigningKey.from_seed(seed).public
    for text in (public.text, f"{public.text} alice@example.org\n", public.pem, f"\n{public.pem}\n"):
        assert PublicKey.parse(text) == public
    library = Ed25519PublicKey.from_public_bytes(public.raw)
    assert public.text.encode() == library.public_bytes(forms.Encoding.OpenSSH, forms.PublicFormat.OpenSSH)
    assert public.pem.encode() == library.public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize("encoded", SMALL_ORDER)
def test_a_key_of_small_order_is_refused_though_openssl_takes_it(encoded):
    raw = bytes.fromhex(encoded)
    Ed25519PublicKey.from_public_bytes(raw)
    assert not is_owned_point(raw)
    with pytest.raises(MalformedError, match="anybody can own"):
        PublicKey(raw)


def test_what_a_key_of_small_order_would_verify():
    """The neutral point: S = 0 and R = neutral verify for every message, and nobody signed them."""
    neutral = bytes.fromhex(SMALL_ORDER[0])
    Ed25519PublicKey.from_public_bytes(neutral).verify(neutral + bytes(32), b"released")


@given(seed=st.binary(min_size=32, max_size=32))
def test_keys_of_people_are_points_that_they_own(seed):
    assert is_owned_point(SigningKey.from_seed(seed).public.raw)


@given(raw=st.binary(min_size=32, max_size=32))
def test_what_is_no_point_verifies_nothing(raw):
    """A twin: what OpenSSL can compute with is a point by our own reading of RFC 8032, or of small order."""
    if is_owned_point(raw):
        assert Ed25519PublicKey.from_public_bytes(raw).public_bytes_raw() == raw


@pytest.mark.parametrize("raw", [(2**255 - 19).to_bytes(32, "little"), (2**255 - 18).to_bytes(32, "little"), bytes(31)])
def test_encodings_that_are_not_the_one(raw):
    assert not is_owned_point(raw)


OTHERS = {
    "an ECDSA key": ec.generate_private_key(ec.SECP256R1()).public_key(),
    "an RSA key": rsa.generate_private_key(65537, 2048).public_key(),
    "an Ed448 key": ed448.Ed448PrivateKey.generate().public_key(),
}


@pytest.mark.parametrize("what", OTHERS)
def test_keys_of_other_algorithms_are_refused(what):
    key = OTHERS[what]
    texts = [key.public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo).decode()]
    if what != "an Ed448 key":
        texts.append(key.public_bytes(forms.Encoding.OpenSSH, forms.PublicFormat.OpenSSH).decode())
    for text in texts:
        with pytest.raises(MalformedError, match="is not an Ed25519 key"):
            PublicKey.parse(text)


def test_a_key_of_another_algorithm_under_our_name_is_refused():
    """The line says Ed25519, the bytes another algorithm: the bytes decide."""
    line = OTHERS["an ECDSA key"].public_bytes(forms.Encoding.OpenSSH, forms.PublicFormat.OpenSSH).decode()
    with pytest.raises(MalformedError, match="though its line says so"):
        PublicKey.parse(f"ssh-ed25519 {line.split()[1]}")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "  "),
        lambda text: text + "=",
        lambda text: text[:-2],
        lambda text: f'from="10.0.0.1" {text}',
        lambda text: text.split(" ")[1],
        lambda text: text + " a\x07b",
        lambda _text: "",
        lambda _text: RFC_8410_PRIVATE,
    ],
)
def test_other_spellings_of_a_line_are_refused(change):
    with pytest.raises(MalformedError):
        PublicKey.parse(change(SigningKey.from_seed(bytes(32)).public.text))


@pytest.mark.parametrize("pem", [False, True])
def test_a_key_pair_is_its_owners_and_reads_back(tmp_path, pem):
    key = SigningKey.generate()
    old = os.umask(0)
    try:
        public = write_key_pair(tmp_path / "alice.key", key, pem=pem, comment="alice")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "alice.key").stat().st_mode) == 0o600
    assert public.read_text() == f"{key.public.text} alice\n"
    assert read_signing_key(tmp_path / "alice.key").public == key.public
    assert read_public_key(tmp_path / "alice.key") == read_public_key(public) == key.public


@pytest.mark.parametrize("there", ["alice.key", "alice.key.pub"])
def test_no_key_is_overwritten(tmp_path, there):
    (tmp_path / there).write_text("precious")
    with pytest.raises(UsageError, match=r"PPF673"):
        write_key_pair(tmp_path / "alice.key", SigningKey.generate())
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(there, "precious")]


def test_a_link_to_nowhere_counts_as_a_file(tmp_path):
    (tmp_path / "alice.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"PPF673"):
        write_key_pair(tmp_path / "alice.key", SigningKey.generate())
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_signs_nothing(tmp_path, mode):
    write_key_pair(tmp_path / "alice.key", SigningKey.generate())
    (tmp_path / "alice.key").chmod(mode)
    with pytest.raises(DataError, match=r"PPF920"):
        read_signing_key(tmp_path / "alice.key")


@pytest.mark.parametrize("text", ["", "hello", RFC_8410_PRIVATE[:80], RFC_8410_PUBLIC, "\x00" * 100])
def test_what_is_no_private_key(tmp_path, text):
    file = tmp_path / "key"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(DataError, match=r"PPF960"):
        read_signing_key(file)


@pytest.mark.parametrize("other", [ec.generate_private_key(ec.SECP256R1()), ed448.Ed448PrivateKey.generate()])
def test_private_keys_of_other_algorithms(tmp_path, other):
    file = tmp_path / "key"
    file.write_bytes(other.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()))
    file.chmod(0o600)
    with pytest.raises(DataError, match=r"PPF960.*is not an Ed25519 key"):
        read_signing_key(file)


def test_a_key_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"PPF960.*cannot be read"):
        read_signing_key(tmp_path / "nothing")


@pytest.mark.parametrize("format_", [forms.PrivateFormat.PKCS8, forms.PrivateFormat.OpenSSH])
def test_the_password_of_an_encrypted_key(tmp_path, format_):
    key, file, asked = SigningKey.generate(), tmp_path / "key", []
    file.write_bytes(
        key.private.private_bytes(forms.Encoding.PEM, format_, forms.BestAvailableEncryption(b"open sesame"))
    )
    file.chmod(0o600)

    def answer(word):
        asked.append(word)
        return word

    assert read_signing_key(file, lambda: answer(b"open sesame")).public == key.public
    assert asked == [b"open sesame"]
    with pytest.raises(DataError, match=r"PPF961.*wrong"):
        read_signing_key(file, lambda: answer(b"open barley"))
    with pytest.raises(DataError, match=r"PPF961.*no password"):
        read_signing_key(file)


@pytest.mark.parametrize("format_", [forms.PrivateFormat.PKCS8, forms.PrivateFormat.OpenSSH])
def test_whether_a_key_is_encrypted_is_seen_without_its_password(format_):
    key = SigningKey.generate().private
    closed = key.private_bytes(forms.Encoding.PEM, format_, forms.BestAvailableEncryption(b"open sesame"))
    assert is_encrypted(closed)
    assert not is_encrypted(key.private_bytes(forms.Encoding.PEM, format_, forms.NoEncryption()))
    for broken in (b"", b"hello", closed[:60], RFC_8410_PUBLIC.encode(), bytes(70_000)):
        with pytest.raises(DataError, match="PPF960"):
            is_encrypted(broken)


def test_a_key_is_never_encrypted_in_pem(tmp_path):
    with pytest.raises(ValueError, match="PEM"):
        write_key_pair(tmp_path / "key", SigningKey.generate(), pem=True, password=b"open sesame")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_openssh_opens_what_we_encrypted(tmp_path):
    write_key_pair(tmp_path / "key", SigningKey.generate(), password=b"open sesame")
    words = ["ssh-keygen", "-y", "-f", tmp_path / "key", "-P"]
    told = subprocess.run([*words, "open sesame"], check=True, capture_output=True, text=True)
    assert told.stdout == (tmp_path / "key.pub").read_text()
    assert subprocess.run([*words, "open barley"], check=False, capture_output=True).returncode != 0


def test_no_password_is_asked_for_a_key_without_one(tmp_path):
    write_key_pair(tmp_path / "key", SigningKey.generate())
    read_signing_key(tmp_path / "key", lambda: pytest.fail("nobody has to ask"))


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
@pytest.mark.parametrize("password", ["", "open sesame"])
def test_keys_of_openssh(tmp_path, password):
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", password, "-f", str(tmp_path / "key"), "-C", "alice"]
    subprocess.run(words, check=True)
    key = read_signing_key(tmp_path / "key", lambda: password.encode() or None)
    assert (tmp_path / "key.pub").read_text() == f"{key.public.text} alice\n"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_openssh_reads_ours(tmp_path):
    write_key_pair(tmp_path / "key", SigningKey.generate())
    told = subprocess.run(["ssh-keygen", "-y", "-f", tmp_path / "key"], check=True, capture_output=True, text=True)
    assert told.stdout == (tmp_path / "key.pub").read_text()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_keys_of_openssl(tmp_path):
    file = tmp_path / "key"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", file], check=True, capture_output=True)
    file.chmod(0o600)
    told = subprocess.run(["openssl", "pkey", "-in", file, "-pubout"], check=True, capture_output=True, text=True)
    assert read_signing_key(file).public.pem == told.stdout


def test_a_private_key_does_not_show():
    key = SigningKey.from_seed(b"s" * 32)
    assert "s" * 8 not in repr(key) + str(vars(key))
    assert (b"s" * 32).hex() not in repr(key)
