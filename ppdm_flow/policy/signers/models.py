"""The list of signers as typed models. Every scalar arrives as text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.core.model import Model, Name

Roles = Annotated[tuple[Name, ...], Field(min_length=1)]


class RevocationEntry(Model):
    """Since when a key counts no more, and why."""

    on: str
    reason: str


class SignerEntry(Model):
    """A person: roles, and one public key as a line of OpenSSH (``key``) or as PEM (``pem``)."""

    roles: Roles
    key: str | None = None
    pem: str | None = None
    from_: str | None = Field(default=None, alias="from")
    until: str | None = None
    revoked: RevocationEntry | None = None


class SignersFile(Model):
    """Who may sign, by name."""

    version: Literal["1"]
    signers: Annotated[dict[str, SignerEntry], Field(min_length=1)]
