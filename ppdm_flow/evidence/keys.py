"""Ed25519 keys (RFC 8032): public ones in their two texts, and private ones that sign."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ppdm_flow.core.digests import canonical
from ppdm_flow.evidence.malformed import MalformedError, decode, encode, parse

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE_BYTES = 64
_Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key by its 32 bytes. There is no other algorithm, so nothing names one."""

    raw: bytes

    def __post_init__(self) -> None:
        if not is_owned_point(self.raw):
            raise MalformedError("is no Ed25519 key that anybody can own")

    @classmethod
    def parse(cls, text: str) -> PublicKey:
        """Return the key of an OpenSSH line (``ssh-ed25519 AAAA… comment``) or a PEM block.

        Raises MalformedError where it is neither, or of another algorithm.
        """
        return cls(raw_of(text))

    @property
    def key_id(self) -> str:
        """SHA-256 of the 32 bytes, as 64 hexadecimal digits."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def text(self) -> str:
        """The key as OpenSSH writes it, without a comment."""
        return openssh(self.raw)

    @property
    def pem(self) -> str:
        """The key as a PEM block."""
        return pem(self.raw)

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Whether the owner of the key signed these bytes."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  # signers are read without it
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415  # the same

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, data)
        except InvalidSignature:
            return False
        return True


class SigningKey:
    """A private key. What it is does not show in its repr."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = PublicKey(private.public_key().public_bytes_raw())

    @classmethod
    def generate(cls) -> SigningKey:
        """Return a new key, from the operating system's randomness."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415  # as above

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> SigningKey:
        """Return the key of a secret of 32 bytes."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415  # as above

        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def private(self) -> Ed25519PrivateKey:
        """The key as ``cryptography`` holds it."""
        return self._private

    def sign(self, data: bytes) -> bytes:
        """Return the 64 bytes of the signature."""
        return self._private.sign(data)


# Which 32 bytes are a public key of Ed25519 that somebody can own (RFC 8032, section 5.1).
#
# OpenSSL takes any point of the curve. A point of small order verifies signatures that nobody made (of a fixed
# signature, for one message in eight at least), so that a list of signers must not have one.


_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_MINUS_1 = pow(2, (_P - 1) // 4, _P)


@lru_cache(maxsize=1024)
def is_owned_point(raw: bytes) -> bool:
    """Whether the bytes are the one encoding of a point of the curve whose order is not 1, 2, 4 or 8."""
    point = _decoded(raw) if len(raw) == 32 else None  # the length of any encoding
    if point is None:
        return False
    for _ in range(3):
        point = _doubled(point)
    return point != (0, 1)


def _decoded(raw: bytes) -> _Point | None:
    """Return x and y (RFC 8032, section 5.1.3); None where the bytes are no point, or not its one encoding."""
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * _SQRT_MINUS_1 % _P
    if x * x % _P != square or (x == 0 and sign):
        return None
    return (_P - x if x & 1 != sign else x), y


def _doubled(point: _Point) -> _Point:
    """Return the sum of a point with itself (RFC 8032, section 5.1, addition on the curve)."""
    x, y = point
    product = _D * x * x * y * y % _P
    return 2 * x * y * pow(1 + product, -1, _P) % _P, (y * y + x * x) * pow(1 - product, -1, _P) % _P


# The two texts of a public key: a line of OpenSSH (RFC 8709), and PEM (RFC 7468, 8410). Read without a library.


KIND = "ssh-ed25519"
BEGIN, END = "-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"
_PRIVATE = "PRIVATE KEY-----"
_LENGTH = 32
_DER = bytes.fromhex("302a300506032b6570032100")
"""What stands before the 32 bytes of the key: SubjectPublicKeyInfo of the algorithm 1.3.101.112."""
_OTHERS = ("ssh-", "ecdsa-", "sk-", "rsa-")
_LINE = 64


def openssh(raw: bytes) -> str:
    """Return the line of a key, without a comment."""
    return f"{KIND} {encode(_field(KIND.encode()) + _field(raw))}"


def pem(raw: bytes) -> str:
    """Return the block of a key."""
    body = encode(_DER + raw)
    lines = [body[at : at + _LINE] for at in range(0, len(body), _LINE)]
    return "\n".join((BEGIN, *lines, END)) + "\n"


def raw_of(text: str) -> bytes:
    """Return the 32 bytes of a key. Raises MalformedError where the text is none, or of another algorithm."""
    stripped = text.strip()
    if _PRIVATE in stripped:
        raise MalformedError("is a private key: it belongs to nobody but its owner")
    if stripped.startswith("-----"):
        return _of_pem(stripped)
    return _of_line(stripped)


def _of_line(line: str) -> bytes:
    parts = line.split(" ", 2)
    if parts[0] != KIND:
        named = parts[0] if parts[0].startswith(_OTHERS) and len(parts[0]) <= _LENGTH else ""
        raise MalformedError(f"is not an Ed25519 key{f', but one of `{named}`' if named else ''}")
    if len(parts) == 1 or not line.isprintable():
        raise MalformedError("is not a line as OpenSSH writes it")
    data = decode(parts[1])
    before = _field(KIND.encode()) + _LENGTH.to_bytes(4, "big")
    if not data.startswith(before) or len(data) != len(before) + _LENGTH:
        raise MalformedError("is not an Ed25519 key, though its line says so")
    return data[len(before) :]


def _of_pem(block: str) -> bytes:
    lines = [line.strip() for line in block.splitlines()]
    if lines[0] != BEGIN or lines[-1] != END:
        raise MalformedError("is not the PEM block of a public key")
    data = decode("".join(lines[1:-1]))
    if not data.startswith(_DER) or len(data) != len(_DER) + _LENGTH:
        raise MalformedError("is not an Ed25519 key")
    return data[len(_DER) :]


def _field(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


# DSSE envelopes, version 1.0.2 of the specification (secure-systems-lab/dsse), with exactly one signature.


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
        document = parse(data)
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
        parse(payload)
        return cls(payload, key_id, signature)

    @property
    def data(self) -> bytes:
        """The envelope's canonical bytes."""
        signature = {"keyid": self.key_id, "sig": encode(self.signature)}
        payload = encode(self.payload)
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
    return decode(value)
