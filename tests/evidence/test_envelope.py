"""Envelopes: the vectors of DSSE, securesystemslib in both directions, and what is not of its form."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib import dsse
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey
from signed_runs import key

from ppdm_flow.core.digests import canonical
from ppdm_flow.evidence.checking import Attestation
from ppdm_flow.evidence.keys import PAYLOAD_TYPE, Envelope, pre_authentication_encoding
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.statement import payload

RECORDED = Path(__file__).parent / "recorded" / "securesystemslib.json"
"""An envelope that securesystemslib 1.6.0 signed, with the key of `alice`."""
VECTORS = [
    # secure-systems-lab/dsse, protocol.md, test vectors; and the definition of PAE for empty texts and other letters
    ("http://example.com/HelloWorld", b"hello world", b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"),
    ("", b"", b"DSSEv1 0  0 "),
    ("ö", b"\x00\xff", b"DSSEv1 2 \xc3\xb6 2 \x00\xff"),
]


def theirs(public) -> SSlibKey:
    return SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(public.raw), keyid=public.key_id)


@pytest.fixture
def envelope(statement):
    return Envelope.signed(payload(statement), key("alice"))


@pytest.mark.parametrize(("kind", "body", "encoded"), VECTORS)
def test_vectors_of_the_pre_authentication_encoding(kind, body, encoded):
    assert pre_authentication_encoding(kind, body) == encoded


@pytest.mark.slow
@given(kind=st.text(st.characters(exclude_categories=("Cs",)), max_size=20), body=st.binary(max_size=40))
def test_the_encoding_is_that_of_securesystemslib(kind, body):
    assert pre_authentication_encoding(kind, body) == dsse.Envelope(body, kind, {}).pae()


@pytest.mark.slow
@given(
    one=st.tuples(st.text("ab 1", max_size=6), st.binary(max_size=6)),
    other=st.tuples(st.text("ab 1", max_size=6), st.binary(max_size=6)),
)
def test_two_payloads_never_encode_alike(one, other):
    assert (pre_authentication_encoding(*one) == pre_authentication_encoding(*other)) == (one == other)


@pytest.mark.slow
@given(body=st.dictionaries(st.text("abc", max_size=3), st.integers(), max_size=3))
def test_envelopes_go_round(body):
    envelope = Envelope.signed(canonical(body), key("alice"))
    assert Envelope.parse(envelope.data) == envelope
    assert envelope.is_by(key("alice").public)
    assert not envelope.is_by(key("bob").public)


def test_ours_verifies_with_securesystemslib(envelope):
    read = dsse.Envelope.from_dict(json.loads(envelope.data))
    assert list(read.verify([theirs(key("alice").public)], 1)) == [key("alice").public.key_id]
    with pytest.raises(VerificationError):
        read.verify([theirs(key("bob").public)], 1)


def test_what_we_change_fails_with_securesystemslib_too(envelope):
    document = json.loads(envelope.data)
    body = base64.b64decode(document["payload"]).replace(b'"holds":true', b'"holds":null')
    document["payload"] = base64.b64encode(body).decode()
    with pytest.raises(VerificationError):
        dsse.Envelope.from_dict(document).verify([theirs(key("alice").public)], 1)


def test_theirs_verifies_here(statement):
    signer = CryptoSigner(key("alice").private, theirs(key("alice").public))
    made = dsse.Envelope(payload(statement), PAYLOAD_TYPE, {})
    made.sign(signer)
    attestation = Attestation.parse(canonical(made.to_dict()))
    assert attestation.statement == statement
    assert attestation.envelope.is_by(key("alice").public)


def test_the_recorded_one_of_theirs_verifies_here(statement):
    attestation = Attestation.parse(RECORDED.read_bytes())
    assert attestation.statement == statement
    assert attestation.envelope.is_by(key("alice").public)


def other_type(document):
    document["payloadType"] = "application/vnd.in-toto+json; charset=utf-8"


def two_signatures(document):
    document["signatures"] *= 2


def no_signature(document):
    document["signatures"] = []


def another_key_at_top(document):
    document["algorithm"] = "ed25519"


def another_key_in_signature(document):
    document["signatures"][0]["alg"] = "none"


def no_key_id(document):
    del document["signatures"][0]["keyid"]


def capital_key_id(document):
    document["signatures"][0]["keyid"] = document["signatures"][0]["keyid"].upper()


def short_signature(document):
    document["signatures"][0]["sig"] = base64.b64encode(bytes(63)).decode()


def url_base64(document):
    document["payload"] = base64.urlsafe_b64encode(base64.b64decode(document["payload"]) + b"???").decode()


def payload_with_a_key_twice(document):
    body = base64.b64decode(document["payload"])
    document["payload"] = base64.b64encode(body[:-1] + b',"subject":[]}').decode()


def payload_with_spaces(document):
    body = json.loads(base64.b64decode(document["payload"]))
    document["payload"] = base64.b64encode(json.dumps(body, sort_keys=True).encode()).decode()


def signatures_are_a_map(document):
    document["signatures"] = {"0": document["signatures"][0]}


def payload_is_a_number(document):
    document["payload"] = 5


@pytest.mark.parametrize(
    "change",
    [
        other_type,
        two_signatures,
        no_signature,
        another_key_at_top,
        another_key_in_signature,
        no_key_id,
        capital_key_id,
        short_signature,
        url_base64,
        payload_with_a_key_twice,
        payload_with_spaces,
        signatures_are_a_map,
        payload_is_a_number,
    ],
)
def test_an_envelope_of_another_form_is_refused(envelope, change):
    document = json.loads(envelope.data)
    before = copy.deepcopy(document)
    change(document)
    assert document != before
    with pytest.raises(MalformedError):
        Envelope.parse(canonical(document))
    assert Envelope.parse(canonical(before)) == envelope


@pytest.mark.parametrize("more", [b"\n", b" ", b"{}", b"\x00"])
def test_nothing_may_stand_behind_it(envelope, more):
    with pytest.raises(MalformedError):
        Envelope.parse(envelope.data + more)


def test_the_id_of_another_key_is_no_way_in(statement, envelope):
    """Signed by mallory under alice's key id, and under her own with alice's statement."""
    forged = Envelope(
        envelope.payload, key("alice").public.key_id, Envelope.signed(envelope.payload, key("mallory")).signature
    )
    assert not forged.is_by(key("alice").public)
    assert not forged.is_by(key("mallory").public)
    with pytest.raises(MalformedError, match="does not fit what is signed"):
        Attestation.parse(forged.data)
    with pytest.raises(MalformedError, match="one key outside and another one inside"):
        Attestation.parse(Envelope.signed(payload(statement), key("mallory")).data)


def test_a_signature_of_another_algorithm_is_none(envelope):
    pae = pre_authentication_encoding(PAYLOAD_TYPE, envelope.payload)
    made = ec.generate_private_key(ec.SECP256R1()).sign(pae, ec.ECDSA(hashes.SHA256()))
    forged = Envelope(envelope.payload, envelope.key_id, made[:64].ljust(64, b"\0"))
    assert not forged.is_by(key("alice").public)


def test_what_is_signed_of_another_type_is_not_signed_here(envelope):
    """The type is part of what is signed."""
    made = key("alice").sign(pre_authentication_encoding("text/plain", envelope.payload))
    assert not Envelope(envelope.payload, envelope.key_id, made).is_by(key("alice").public)


@pytest.mark.slow
def test_every_single_byte_counts(envelope):
    """All bytes of an envelope: another one in its place, one more before it, and none."""
    data = envelope.data
    for place in range(len(data)):
        for changed in (
            data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :],
            data[:place] + b"A" + data[place:],
            data[:place] + data[place + 1 :],
        ):
            with pytest.raises(MalformedError):
                Attestation.parse(changed)
