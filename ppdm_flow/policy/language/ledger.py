"""The release ledger and what is asked of successive releases, as typed models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, Model, Texts

Spelling = Literal["case", "blanks", "form"]
"""A difference between two spellings of an id."""


class Ledger(Model):
    """A file or database that remembers what was released about whom, as keyed hashes; releases are held against it."""

    path: str | None = None
    url: str | None = None
    key: str | None = None
    subject: str | None = None
    ignore: tuple[Spelling, ...] = ("case", "blanks", "form")
    repeat: Literal["refuse", "warn"] = "refuse"


class CumulativeK(Model):
    """All earlier releases of the ledger, and this one, together leave groups of at least ``k`` people."""

    k: Annotated[int, Field(ge=2), HIGHER]
    attributes: Texts | None = None
