"""The data access of a plugin on a cluster: the most that comes to it of rows that are held elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class DataAccess(StrEnum):
    """From the least to the most; a plugin that asks nothing of the rows says ``counts``."""

    COUNTS = "counts"
    FRAGMENTS = "fragments"
    ROWS = "rows"
    TABLE = "table"

    @property
    def rank(self) -> int:
        """Its place, 0 for the least."""
        return list(DataAccess).index(self)

    @property
    def where(self) -> str:
        """Where the work is done: ``distributed`` where only answers come to the driver, else ``driver``."""
        return "distributed" if self in (DataAccess.COUNTS, DataAccess.FRAGMENTS) else "driver"

    @property
    def words(self) -> str:
        """What comes to the driver."""
        return _WORDS[self]


_WORDS = {
    DataAccess.COUNTS: "counts of combinations",
    DataAccess.FRAGMENTS: "samples of a fixed number of rows",
    DataAccess.ROWS: "rows, a few fragments at a time",
    DataAccess.TABLE: "its columns of all rows",
}

CASES: Mapping[str, str] = {
    "people": "where people are counted",
    "together": "where releases are read together or cells were hidden or moved",
    "numbers": "of numeric columns",
    "sets": "of sets of items",
    "weights": "of weighted rows",
}
"""Cases in which a plugin may ask more. Others name a parameter, ``size``, or one with its value, ``form=sets``."""


@dataclass(frozen=True, slots=True)
class AccessRequirements:
    """``usual``, and what is asked in the cases of :data:`CASES` or with a parameter.

    ``passes`` is about how often the rows are gone over, for a step or an audit by both routes; ``passes_each`` how
    often for each numeric column besides. ``takes_all``, of an anonymizer that is not of the kind ``table``: it is
    carried out on the whole table nevertheless, always or where a parameter of these names is given.
    """

    usual: DataAccess = DataAccess.TABLE
    more: Mapping[str, DataAccess] = field(default_factory=dict)
    passes: int = 4
    passes_each: int = 0
    takes_all: bool | tuple[str, ...] = False

    def of(self, cases: frozenset[str], parameters: Mapping[str, object]) -> DataAccess:
        """Return what is asked at most where these cases hold and the parameters are these."""
        applicable = (asks for case, asks in self.more.items() if case in cases or _holds(case, parameters))
        return max((self.usual, *applicable), key=lambda asks: asks.rank)

    def takes_the_table(self, parameters: Mapping[str, object]) -> bool:
        """Return whether it is carried out on the whole table with these parameters."""
        if isinstance(self.takes_all, bool):
            return self.takes_all
        return any(_holds(name, parameters) for name in self.takes_all)

    @property
    def worst(self) -> DataAccess:
        """The most that it may ask."""
        return max((self.usual, *self.more.values()), key=lambda asks: asks.rank)

    @property
    def usually(self) -> str:
        """Return what comes to the driver where no case holds."""
        return self.usual.words if self.passes or self.passes_each else "nothing"

    @property
    def cases(self) -> str:
        """Return in which cases more is asked, the same demand once; nothing for none."""
        by_demand = {asks: [case for case, each in self.more.items() if each is asks] for asks in DataAccess}
        parts = [
            f"{' or '.join(map(case_words, cases))}: {asks.where} ({asks.words})"
            for asks, cases in by_demand.items()
            if cases
        ]
        return "; ".join(parts)

    @property
    def sentence(self) -> str:
        """Return it in words."""
        return "; ".join(part for part in (f"{self.usual.where} ({self.usually})", self.cases) if part)


def case_words(case: str) -> str:
    """Return a case in words."""
    return CASES.get(case) or f"with `{case.replace('=', ': ')}`"


def _holds(case: str, parameters: Mapping[str, object]) -> bool:
    name, given, value = case.partition("=")
    if case in CASES or name not in parameters:
        return False
    return str(parameters[name]) == value if given else parameters[name] is not None


UNKNOWN = AccessRequirements()
"""What is taken for granted of a plugin that does not say it: the worst."""
NOTHING = AccessRequirements(DataAccess.COUNTS, passes=0)
"""Of a step that is ready before it has seen any row."""


def class_counts(passes: int) -> AccessRequirements:
    """Return what audits of classes ask: counts, but the table where people are counted or releases read together."""
    more = {"people": DataAccess.TABLE, "together": DataAccess.TABLE}
    return AccessRequirements(DataAccess.COUNTS, more, passes=passes)
