"""Ed25519 keys (RFC 8032): public ones in their two texts, and private ones that sign."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_flow.evidence import public_text
from ppdm_flow.evidence.edwards25519 import is_owned_point
from ppdm_flow.evidence.malformed import MalformedError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE_BYTES = 64


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
        return cls(public_text.raw_of(text))

    @property
    def key_id(self) -> str:
        """SHA-256 of the 32 bytes, as 64 hexadecimal digits."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def text(self) -> str:
        """The key as OpenSSH writes it, without a comment."""
        return public_text.openssh(self.raw)

    @property
    def pem(self) -> str:
        """The key as a PEM block."""
        return public_text.pem(self.raw)

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
