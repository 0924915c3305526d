"""Who logs in to the ledger's server: from the environment, as libpq has it, and never from a policy."""

from __future__ import annotations

import getpass
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.server_address import ServerAddress
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.sdk.key_file import refuse_shared

_FIELD = re.compile(r"((?:\\.|[^:\\])*)(?::|$)")


@dataclass(frozen=True, slots=True)
class Login:
    """A user and, where there is one, the password, which is never shown."""

    user: str
    password: str = field(default="", repr=False)


def login(address: ServerAddress) -> Login:
    """Return the user of the URL, else PGUSER, else the system's; and PGPASSWORD, else that of the password file.

    The file is PGPASSFILE, or ``~/.pgpass``, with lines ``host:port:database:user:password`` in which ``*`` fits
    anything. Raises DataError where it is not private to its owner.
    """
    user = address.user or os.environ.get("PGUSER") or _system_user()
    password = os.environ.get("PGPASSWORD")
    return Login(user, _from_file(address, user) if password is None else password)


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "postgres"


def _from_file(address: ServerAddress, user: str) -> str:
    named = os.environ.get("PGPASSFILE")
    path = Path(named) if named else Path("~/.pgpass").expanduser()
    if not named and not path.exists():
        return ""
    try:
        refuse_shared(path, "the password file")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise data_fault("PPF629", f"the password file `{path}` cannot be read") from None
    wanted = ("localhost" if address.is_socket else address.host, str(address.port), address.database, user)
    return next((password for line in lines if (password := _fitting(line, wanted)) is not None), "")


def _fitting(line: str, wanted: tuple[str, ...]) -> str | None:
    if not line.strip() or line.startswith("#"):
        return None
    cells = [re.sub(r"\\(.)", r"\1", each) for each in _FIELD.findall(line)]
    fits = len(cells) > len(wanted) and all(c in ("*", w) for c, w in zip(cells, wanted, strict=False))
    return cells[len(wanted)] if fits else None
