"""What a data contract says of data, as far as a release policy can use it; the rest is kept by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContractProperty:
    """A column. ``unused`` are the keys that say what no policy says.

    ``column`` is the physical name where there is one, ``name`` that of the contract. ``type`` is the logical type,
    ``format`` that of its texts or dates; ``role`` is what a contract that this program wrote says of the column.
    """

    column: str
    name: str
    type: str = ""
    format: str = ""
    description: str = ""
    classification: str = ""
    tags: tuple[str, ...] = ()
    role: str = ""
    primary_key: bool = False
    unique: bool = False
    encrypted: bool = False
    refers: bool = False
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractObject:
    """A table."""

    name: str
    physical_name: str
    description: str
    properties: tuple[ContractProperty, ...]
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """A data contract; ``file`` is where it stands."""

    file: str
    name: str
    version: str
    standard: str
    purpose: str
    objects: tuple[ContractObject, ...]
    unused: tuple[str, ...] = ()
