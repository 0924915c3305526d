"""Making a key pair that signs, and showing the public part of one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.model import NAME
from ppdm_flow.evidence.key_files import Password, read_public_key, write_key_pair
from ppdm_flow.evidence.keys import PublicKey, SigningKey
from ppdm_flow.sdk.spec import PASSWORD_VARIABLE

_COMMENT = 100


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A key: its files (only that of a public part where it was but shown), and its entry in a list of signers."""

    path: Path
    public_path: Path | None
    public: PublicKey
    name: str
    roles: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """The entry for ``signers.yaml``. Without roles it is refused until somebody fills them in."""
        name = self.name if re.fullmatch(NAME, self.name) else json.dumps(self.name, ensure_ascii=False)
        roles = ", ".join(self.roles)
        hint = "" if self.roles else "  # in which roles it signs, such as data-owner"
        return f"  {name}:\n    roles: [{roles}]{hint}\n    key: {self.public.text}\n"


def make_key(
    path: Path,
    *,
    pem: bool = False,
    comment: str = "",
    roles: Sequence[str] = (),
    password: Password | None = None,
) -> KeyPair:
    """Write a new key to a file that only its owner may read, and the public part to ``FILE.pub``.

    ``comment`` says whose it is; ``password`` asks for one to encrypt the key with, None writes it as it is. Raises
    UsageError where there is such a file already, or a name is none; DataError where it is to be encrypted and there
    is no password; RunError where nothing can be written.
    """
    for role in roles:
        if re.fullmatch(NAME, role) is None:
            text = "a role is a name: a letter, then up to 63 letters, digits, `_` or `-`"
            raise UsageError(Diagnostic("PPF963", text))
    if not comment.isprintable() or len(comment) > _COMMENT:
        text = f"a comment is a line of at most {_COMMENT} printable characters"
        raise UsageError(Diagnostic("PPF673", text))
    secret = None if password is None else password()
    if password is not None and not secret:
        help_ = f"run it on a terminal, or put one into the variable {PASSWORD_VARIABLE}"
        raise DataError(Diagnostic("PPF961", "the key is to be encrypted, and there is no password", help=help_))
    key = SigningKey.generate()
    beside = write_key_pair(path, key, pem=pem, comment=comment, password=secret)
    return KeyPair(path, beside, key.public, comment.strip() or path.stem, tuple(roles))


def show_key(path: Path, password: Password = lambda: None) -> KeyPair:
    """Return the public part of the key in a file, be it private or public. Raises DataError where there is none."""
    return KeyPair(path, None, read_public_key(path, password), path.stem)
