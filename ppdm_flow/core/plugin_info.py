"""What a plugin says of itself before any of its code runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a plugin works on a table."""

    ROW_WISE = "row_wise"
    ORDER = "order"
    TABLE = "table"
    GENERATOR = "generator"
    AUDIT = "audit"
    SOURCE = "source"
    SINK = "sink"


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin's card.

    ``serves`` names the requirement kinds that an anonymizer works towards, or that an audit measures.
    ``guarantees`` are the claims, in words; an audit measures them again. ``randomized`` says whether it draws.
    ``example`` is a piece of a policy that uses it, in YAML.
    """

    name: str
    kind: Kind
    summary: str
    version: str = "1"
    reference: str = ""
    guarantees: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    randomized: bool = False
    cost: str = ""
    example: str = ""
