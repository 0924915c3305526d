"""The file that says how people sign in by OpenID Connect."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean

BACK = "/sign-in/openid/back"
"""Where the provider sends browsers back to; to be registered there, after the server's address."""
_NEEDED = ("issuer", "client_id", "address")
_KEYS = (*_NEEDED, "label", "client_secret_file", "client_secret_variable")


@dataclass(frozen=True, slots=True)
class OpenIdConfiguration:
    """One provider. ``address`` is where browsers reach this server; without a secret it is a public client."""

    issuer: str
    client_id: str
    address: str
    label: str
    client_secret: str | None = field(default=None, repr=False)

    @property
    def redirect_uri(self) -> str:
        """The address that the provider sends browsers back to."""
        return self.address.rstrip("/") + BACK


def read_configuration(file: Path, environment: Mapping[str, str] = os.environ) -> OpenIdConfiguration:
    """Read the file. Raises UsageError with all that is wrong in it."""
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(_fault(f"cannot read `{file}`: {error.strerror or type(error).__name__}")) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise UsageError(_fault(f"`{file}` is no TOML")) from None
    faults = [*_key_faults(given), *_address_faults(given)]
    secret, secret_faults = _secret(given, file.parent, environment)
    if faults or secret_faults:
        raise UsageError([*faults, *secret_faults])
    return OpenIdConfiguration(
        issuer=given["issuer"],
        client_id=given["client_id"],
        address=given["address"],
        label=given.get("label", urlsplit(given["issuer"]).hostname),
        client_secret=secret,
    )


def safe_address(address: object) -> bool:
    """Whether an address is one of HTTPS; HTTP is for this machine alone."""
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.username is not None or parts.fragment or not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key_faults(given: Mapping[str, object]) -> Iterable[Diagnostic]:
    for key in given:
        if key not in _KEYS:
            yield _fault(f"unknown key `{key}` in the file for OpenID Connect", did_you_mean(key, _KEYS))
    for key in _NEEDED:
        if key not in given:
            yield _fault(f"the file for OpenID Connect has no `{key}`")
    for key in _KEYS:
        if key in given and not (isinstance(given[key], str) and given[key]):
            yield _fault(f"`{key}` of the file for OpenID Connect must be a text")


def _address_faults(given: Mapping[str, object]) -> Iterable[Diagnostic]:
    for key in ("issuer", "address"):
        if given.get(key) and isinstance(given[key], str) and not safe_address(given[key]):
            yield _fault(f"`{key}` of the file for OpenID Connect must be an address that begins with https://")


def _secret(
    given: Mapping[str, object], folder: Path, environment: Mapping[str, str]
) -> tuple[str | None, list[Diagnostic]]:
    file, variable = given.get("client_secret_file"), given.get("client_secret_variable")
    if file is not None and variable is not None:
        return None, [_fault("give `client_secret_file` or `client_secret_variable`, not both")]
    if isinstance(file, str):
        try:
            secret = (folder / file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None, [_fault("the file that `client_secret_file` names cannot be read")]
        return secret, [] if secret else [_fault("the file that `client_secret_file` names is empty")]
    if isinstance(variable, str):
        secret = environment.get(variable, "")
        return secret, [] if secret else [_fault(f"the variable `{variable}` has no secret")]
    return None, []


def _fault(text: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic("PPF998", text, hint=hint)
