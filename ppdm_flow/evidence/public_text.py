"""The two texts of a public key: a line of OpenSSH (RFC 8709), and PEM (RFC 7468, 8410). Read without a library."""

from __future__ import annotations

from ppdm_flow.evidence import base64_text
from ppdm_flow.evidence.malformed import MalformedError

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
    return f"{KIND} {base64_text.encode(_field(KIND.encode()) + _field(raw))}"


def pem(raw: bytes) -> str:
    """Return the block of a key."""
    body = base64_text.encode(_DER + raw)
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
    data = base64_text.decode(parts[1])
    before = _field(KIND.encode()) + _LENGTH.to_bytes(4, "big")
    if not data.startswith(before) or len(data) != len(before) + _LENGTH:
        raise MalformedError("is not an Ed25519 key, though its line says so")
    return data[len(before) :]


def _of_pem(block: str) -> bytes:
    lines = [line.strip() for line in block.splitlines()]
    if lines[0] != BEGIN or lines[-1] != END:
        raise MalformedError("is not the PEM block of a public key")
    data = base64_text.decode("".join(lines[1:-1]))
    if not data.startswith(_DER) or len(data) != len(_DER) + _LENGTH:
        raise MalformedError("is not an Ed25519 key")
    return data[len(_DER) :]


def _field(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
