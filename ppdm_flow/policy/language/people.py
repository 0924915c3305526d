"""Whom a policy protects, people or rows, as a typed model."""

from __future__ import annotations

from typing import Literal

from ppdm_flow.core.model import Model
from ppdm_flow.core.people import KnownRows


class PeopleOptions(Model):
    """What counts where a person has several rows, and how many of these an adversary may know."""

    known_rows: KnownRows | None = None
    unit: Literal["people", "rows"] = "people"
