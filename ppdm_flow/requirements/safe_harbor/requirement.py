"""Safe Harbor: nothing is left of the 18 identifiers of 45 CFR 164.514(b)(2)(i)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import HIGHER, LOWER, MORE, Fixed, Texts
from ppdm_flow.core.requirement import NamePattern, Requirement
from ppdm_flow.mining.identifiers.patterns import Identifier

_AS_OF = "The year at whose end ages count: who was born 90 years before it or earlier belongs to `90 or older`."
_ZIPS = "Attributes of the source that hold ZIP codes and have no name that says so (`zip`, `postal_code`)."
_AGES = "Attributes of the source that hold ages and have no name that says so (`age`, `age_at_admission`)."
_BIRTHS = "Attributes of the source that hold years of birth and have no name that says so (`birth_year`, `yob`)."
_SMALL = (
    "The three-digit ZIP areas with 20,000 or fewer people: `census_2000` (the 17 of the guidance of HHS, 2012),"
    " `census_2020` (the 18 that HRSA names), or areas by their three digits."
)
_UNIQUE = "The largest share of a column's cells that may each be of one person (or row) alone."
_CLEARED = (
    "By released column, the kinds of identifiers that somebody looked at and found not to be there: the"
    " `unique_codes` of `visit_code` are kinds of visits."
)


# The three-digit ZIP areas with 20,000 or fewer people, whose digits have to become 000.
#
# `census_2000`: the 17 areas of the guidance of the Office for Civil Rights (HHS) on methods for de-identification, 26
# November 2012, by the five-digit ZIP Code Tabulation Areas of Census 2000. The guidance says not to rely on it where
# more current data has been published. `census_2020`: the 18 areas that the Health Resources and Services
# Administration (HHS) names for its UDS+ reports by Census 2020 (UDS+ Office Hours FAQ, as quoted on 18 March 2024 at
# github.com/drajer-health/uds-plus/issues/35). The default takes both lists, and so satisfies either.


LISTS = ("census_2000", "census_2020")
"""The lists that come with the program, by the census that they go by."""
WRITTEN = rf"^({'|'.join(LISTS)}|[0-9]{{3}})$"
"""How an entry of ``small_areas`` is written: the name of a list, or the three digits of an area."""


class SafeHarbor(Requirement):
    """No released cell shows one of the 18 identifiers that the Safe Harbor method has removed.

    Source: 45 CFR 164.514(b)(2)(i); Office for Civil Rights, Guidance regarding methods for de-identification of
    protected health information, 26 November 2012.
    """

    kind: ClassVar[str] = "safe_harbor"
    counts_people: ClassVar[bool] = True
    as_of: Annotated[int, Field(ge=1996, le=9999, description=_AS_OF, examples=["2026"]), HIGHER]
    zip_codes: Annotated[Texts, Field(description=_ZIPS, examples=[["home"]]), MORE] = ()
    ages: Annotated[Texts, Field(description=_AGES, examples=[["years"]]), MORE] = ()
    birth_years: Annotated[Texts, Field(description=_BIRTHS, examples=[["cohort"]]), MORE] = ()
    small_areas: Annotated[
        tuple[Annotated[str, Field(pattern=WRITTEN)], ...],
        Field(min_length=1, description=_SMALL, examples=[["census_2000", "census_2020", "999"]]),
        MORE,
    ] = LISTS
    unique: Annotated[float, Field(ge=0.0, lt=1.0, description=_UNIQUE, examples=["0.5"]), LOWER] = 0.8
    cleared: Annotated[
        dict[str, Annotated[tuple[Identifier, ...], Field(min_length=1)]],
        Field(description=_CLEARED, examples=[{"visit_code": ["unique_codes"]}]),
        Fixed,
    ] = Field(default_factory=dict)

    def on_columns(self, columns: NamePattern) -> Iterator[SafeHarbor]:
        """Yield it with the columns that its names mean."""
        names = {f: columns.every(getattr(self, f), self) for f in ("zip_codes", "ages", "birth_years")}
        yield self.changed(**names)


NO_AREA = "000"
"""Digits that replace those of the small areas."""


def areas(entries: Iterable[str]) -> frozenset[str]:
    """Return the areas that these entries name, each by its three digits.

    Examples
    --------
    >>> len(areas(["census_2000"])), len(areas(LISTS)), "999" in areas(["999"])
    (17, 23, True)
    """
    lists = _lists()
    return frozenset(area for entry in entries for area in lists.get(entry, (entry,)))


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    text = files(__package__).joinpath("small_areas.csv").read_text(encoding="utf-8")
    rows = [(row["list"], row["area"]) for row in csv.DictReader(text.splitlines())]
    return {name: tuple(area for each, area in rows if each == name) for name in LISTS}
