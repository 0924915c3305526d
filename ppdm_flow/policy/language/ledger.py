"""The release ledger as a typed model."""

from __future__ import annotations

from typing import Annotated, Literal

from ppdm_flow.core.model import Model, StrongestFirst

Spelling = Literal["case", "blanks", "form"]
"""A difference between two spellings of one thing."""


class LedgerOptions(Model):
    """A file or database of earlier releases and their people, as keyed hashes; releases are judged with it."""

    path: str | None = None
    url: str | None = None
    key: str | None = None
    subject: str | None = None
    ignore: tuple[Spelling, ...] = ("case", "blanks", "form")
    repeat: Annotated[Literal["refuse", "warn"], StrongestFirst(("refuse", "warn"))] = "refuse"
