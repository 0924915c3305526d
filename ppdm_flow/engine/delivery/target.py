"""A table that a release becomes, and what a connection does for it."""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.faults import data_fault

MARK = "ppdm-flow: "
"""How the comment of a table begins that a release made."""
_LONGEST_COMMENT = 1024
Batches = Generator[pa.RecordBatch, None, None]
"""Rows that are there as long as nobody closes it."""


@dataclass(frozen=True, slots=True)
class DeliveryTarget:
    """A table to be. ``schema`` is None where the database says which; ``comments`` are those of columns.

    It replaces a table that a release of the same ``policy`` made, and no other one. ``staging`` is the name under
    which it is filled.
    """

    schema: str | None
    name: str
    policy: str = ""
    comment: str = MARK
    comments: Mapping[str, str] = field(default_factory=dict)
    indexes: tuple[tuple[str, ...], ...] = ()
    grants: tuple[str, ...] = ()
    staging: str = field(default_factory=lambda: f"ppdm_flow_{secrets.token_hex(8)}")

    def may_replace(self, comment: object) -> bool:
        """Whether a table with this comment may be replaced."""
        return re.match(rf"{MARK}release \S+ of policy {re.escape(self.policy)}, run ", str(comment)) is not None

    @property
    def shown(self) -> str:
        """Its name, for messages."""
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


class TableWriter(ABC):
    """Fills tables over a connection and puts them in their places. Everything raises PpdmError."""

    place: str
    filled: DeliveryTarget | None = None
    """The table whose faults say that it cannot be made of the release."""

    @abstractmethod
    def stage(self, target: DeliveryTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        """Fill a table under its staging name. Raises DataError where another one than a release's has its place."""

    @abstractmethod
    def read(self, target: DeliveryTarget, schema: pa.Schema) -> Batches:
        """Yield the rows of a staged table, in the order that they were written in."""

    @abstractmethod
    def prepare(self, target: DeliveryTarget) -> None:
        """Do all that may fail before the tables take their places."""

    @abstractmethod
    def commit(self) -> None:
        """Let all tables that were prepared take their places, in one step."""

    @abstractmethod
    def close(self) -> None:
        """Take back what did not take its place, and hang up."""

    @contextmanager
    def filling(self, target: DeliveryTarget) -> Iterator[None]:
        """Take the faults within for those of a table."""
        self.filled = target
        try:
            yield
        finally:
            self.filled = None


def comment(text: str) -> str:
    """Return the comment of a table or a column, on one line."""
    return " ".join(text.split())[:_LONGEST_COMMENT]


def foreign_table(place: str, target: DeliveryTarget) -> DataError:
    """Say that there is a table which no release of the policy made."""
    text = f"the database `{place}` has a table `{target.shown}` that no release of this policy made: it stays"
    return data_fault("PPF483", text, advice="name another table, or drop that one yourself")


def unfit(place: str, target: DeliveryTarget, why: str) -> DataError:
    """Say that a table cannot be made of a release."""
    text = f"table `{target.shown}` of the database `{place}`: {why}"
    return data_fault("PPF482", text, advice="nothing was released")
