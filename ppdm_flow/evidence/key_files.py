"""Files of Ed25519 keys: private ones that only their owner may read, in OpenSSH's format or PEM (PKCS8)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, RunError, UsageError
from ppdm_flow.evidence.keys import PublicKey, SigningKey
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.sdk.key_file import refuse_shared
from ppdm_flow.sdk.spec import PASSWORD_VARIABLE

SIZE_LIMIT = 65_536
"""Bytes."""
PUBLIC = ".pub"
"""Ends the name of the file with the public key."""
Password = Callable[[], bytes | None]
"""Asks for the password of an encrypted key; None where there is nobody to ask."""
_ROUNDS = 64
"""Of bcrypt_pbkdf, by which OpenSSH derives the key of an encrypted file: a third of a second for each guess."""
_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"


def read_signing_key(path: Path, password: Password = lambda: None) -> SigningKey:
    """Return the private key in a file. ``password`` is asked for where the file is encrypted, and only then.

    Raises DataError where others may read it (PPF920), where it holds no Ed25519 key (PPF960), or where it is encrypted
    and the password is missing or wrong (PPF961).
    """
    data = _read(path)
    refuse_shared(path, "the key")
    try:
        return _loaded(path, data, None)
    except TypeError:  # what the library raises where a password is needed
        secret = password()
    if not secret:
        advice = f"run it on a terminal, or put its password into the variable {PASSWORD_VARIABLE}"
        raise _fault("PPF961", f"the key `{path}` is encrypted, and there is no password", advice)
    return _loaded(path, data, secret)


def read_public_key(path: Path, password: Password = lambda: None) -> PublicKey:
    """Return the public key in a file, or that of the private key in it, for which a password may be asked.

    Raises DataError (PPF960) where there is none.
    """
    data = _read(path)
    if b"PRIVATE KEY-----" in data:
        return read_signing_key(path, password).public
    try:
        return PublicKey.parse(data.decode("utf-8"))
    except UnicodeError:
        raise _fault("PPF960", f"`{path}` is no key file: it is not a text") from None
    except MalformedError as error:
        raise _fault("PPF960", f"the key in `{path}` {error}") from None


def is_encrypted(data: bytes) -> bool:
    """Whether a private key, as its file has it, needs a password. Raises DataError (PPF960) where it is none."""
    if len(data) > SIZE_LIMIT:
        raise _fault("PPF960", f"that is no key file: it is larger than {SIZE_LIMIT // 1024} KB")
    try:
        _loaded(Path("FILE"), data, None)
    except TypeError:
        return True
    return False


def write_key_pair(
    path: Path, key: SigningKey, *, pem: bool = False, comment: str = "", password: bytes | None = None
) -> Path:
    """Write a private key that only its owner may read, and the public one beside it; return the latter's path.

    With a ``password`` it is encrypted, as OpenSSH does: PEM derives the key from the password with so few rounds that
    it is not offered. Raises UsageError (PPF673) where there is a file of either name already: no key is ever
    overwritten.
    """
    if password is not None and pem:
        raise ValueError("a key in PEM is not encrypted")
    beside = path.with_name(path.name + PUBLIC)
    for each in (path, beside):
        if os.path.lexists(each):
            text = f"there is a file `{each}` already, and no key is overwritten"
            raise UsageError(Diagnostic("PPF673", text, help="give another name"))
    public = f"{key.public.text}{f' {comment}' if comment else ''}\n"
    _write(path, _private_text(key, pem=pem, password=password), 0o600)
    try:
        _write(beside, public.encode(), 0o644)
    except BaseException:
        path.unlink()
        raise
    return beside


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise _fault("PPF960", f"the key file `{path}` cannot be read: {reason}") from None
    if len(data) > SIZE_LIMIT:
        raise _fault("PPF960", f"`{path}` is no key file: it is larger than {SIZE_LIMIT // 1024} KB")
    return data


def _loaded(path: Path, data: bytes, password: bytes | None) -> SigningKey:
    """Return the key. Raises TypeError where it is encrypted and no password is given."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # only signing needs it
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415  # the same
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415  # the same

    read: Any = forms.load_ssh_private_key if data.lstrip().startswith(_OPENSSH) else forms.load_pem_private_key
    try:
        key = read(data, password)
    except UnsupportedAlgorithm:
        advice = "write it in PEM (`ppdm-flow key --pem`, or `openssl pkcs8`), or run `pip install 'ppdm_flow[ssh]'`"
        raise _fault("PPF960", f"the key `{path}` is encrypted in a way that needs another package", advice) from None
    except ValueError:
        if password is not None:
            raise _fault("PPF961", f"the password of the key `{path}` is wrong, or the file is damaged") from None
        raise _fault("PPF960", f"`{path}` holds no private key in OpenSSH's format or PEM, or is damaged") from None
    if not isinstance(key, Ed25519PrivateKey):
        advice = "`ppdm-flow key FILE` makes one"
        raise _fault("PPF960", f"the key `{path}` is not an Ed25519 key", advice)
    return SigningKey(key)


def _private_text(key: SigningKey, *, pem: bool, password: bytes | None) -> bytes:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # only `key` needs it
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415  # the same

    form = forms.PrivateFormat.PKCS8 if pem else forms.PrivateFormat.OpenSSH
    if password is None:
        return key.private.private_bytes(forms.Encoding.PEM, form, forms.NoEncryption())
    encryption = form.encryption_builder().kdf_rounds(_ROUNDS).build(password)
    try:
        return key.private.private_bytes(forms.Encoding.PEM, form, encryption)
    except UnsupportedAlgorithm:
        raise _fault("PPF960", "encrypting a key needs another package", "run `pip install 'ppdm_flow[ssh]'`") from None


def _write(path: Path, data: bytes, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink()
            raise
    except FileExistsError:
        raise UsageError(Diagnostic("PPF673", f"there is a file `{path}` already", help="give another name")) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RunError(Diagnostic("PPF693", f"the key `{path}`: cannot write: {reason}")) from None


def _fault(code: str, message: str, advice: str | None = None) -> DataError:
    return DataError(Diagnostic(code, message, help=advice))
