"""The people whose rows a table has, where a person can have several rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

KnownRows = Literal["1", "2", "3", "all"]
"""How many rows of a person an adversary may know, as a policy writes it; the order is from weak to strong."""
BY_PSEUDONYMS = "PPF918"
"""The finding that people of a release are counted by the pseudonyms of its file, whose rows cannot be paired."""


@dataclass(frozen=True, slots=True)
class PeopleCount:
    """People are counted, not rows: ``subject`` is the attribute that says whose row it is.

    ``known_rows`` is how many rows of one person an adversary may know the grouping values of; None is all of them.
    """

    subject: str
    known_rows: int | None

    @classmethod
    def of(cls, subject: str, known_rows: KnownRows) -> PeopleCount:
        """Return it for what a policy says."""
        return cls(subject, None if known_rows == "all" else int(known_rows))

    @property
    def written(self) -> str:
        """How a policy writes ``known_rows``."""
        return "all" if self.known_rows is None else str(self.known_rows)


class PeopleFigure(Enum):
    """The figure that is counted for the people of a group.

    ``DISTRIBUTION``: each person weighs 1, spread over its rows. ``CONFIDENCE``: the larger share of rows and people.
    ``DISTINCT``: people matched with values.
    """

    DISTRIBUTION = "distribution"
    CONFIDENCE = "confidence"
    DISTINCT = "distinct"
