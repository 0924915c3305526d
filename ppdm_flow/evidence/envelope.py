"""DSSE envelopes, version 1.0.2 of the specification (secure-systems-lab/dsse), with exactly one signature."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.digests import canonical
from ppdm_flow.evidence import base64_text, strict_json
from ppdm_flow.evidence.keys import SIGNATURE_BYTES, PublicKey, SigningKey
from ppdm_flow.evidence.malformed import MalformedError

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_KEY_ID = re.compile(r"[0-9a-f]{64}")


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that are signed: type and payload, each with its length (PAE).

    >>> pre_authentication_encoding("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A signed payload of canonical JSON. ``key_id`` says which key made the signature; the key decides."""

    payload: bytes
    key_id: str
    signature: bytes

    @classmethod
    def signed(cls, payload: bytes, key: SigningKey) -> Envelope:
        """Sign a payload."""
        signature = key.sign(pre_authentication_encoding(PAYLOAD_TYPE, payload))
        return cls(payload, key.public.key_id, signature)

    @classmethod
    def parse(cls, data: bytes) -> Envelope:
        """Return the envelope whose canonical bytes these are. Raises MalformedError for any other bytes."""
        document = strict_json.parse(data)
        _require_keys(document, {"payload", "payloadType", "signatures"}, "the envelope")
        if document["payloadType"] != PAYLOAD_TYPE:
            raise MalformedError(f"is of another payload type than `{PAYLOAD_TYPE}`")
        signatures = document["signatures"]
        if not isinstance(signatures, list) or len(signatures) != 1:
            raise MalformedError("does not have exactly one signature")
        _require_keys(signatures[0], {"keyid", "sig"}, "the signature")
        key_id, signature = signatures[0]["keyid"], _bytes(signatures[0]["sig"])
        if not isinstance(key_id, str) or not _KEY_ID.fullmatch(key_id):
            raise MalformedError("names no key by its SHA-256")
        if len(signature) != SIGNATURE_BYTES:
            raise MalformedError(f"has a signature that is not of {SIGNATURE_BYTES} bytes")
        payload = _bytes(document["payload"])
        strict_json.parse(payload)
        return cls(payload, key_id, signature)

    @property
    def data(self) -> bytes:
        """The envelope's canonical bytes."""
        signature = {"keyid": self.key_id, "sig": base64_text.encode(self.signature)}
        payload = base64_text.encode(self.payload)
        return canonical({"payload": payload, "payloadType": PAYLOAD_TYPE, "signatures": [signature]})

    def is_by(self, key: PublicKey) -> bool:
        """Whether the owner of ``key`` signed it, and it says so."""
        if self.key_id != key.key_id:
            return False
        return key.verify(self.signature, pre_authentication_encoding(PAYLOAD_TYPE, self.payload))


def _require_keys(value: Any, keys: set[str], what: str) -> None:
    if not isinstance(value, dict) or value.keys() != keys:
        raise MalformedError(f"does not have the keys {', '.join(sorted(keys))} alone in {what}")


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise MalformedError("has a value that is no text")
    return base64_text.decode(value)
