"""The three-digit ZIP areas with 20,000 or fewer people, whose digits have to become 000.

``census_2000``: the 17 areas of the guidance of the Office for Civil Rights (HHS) on methods for de-identification,
26 November 2012, by the five-digit ZIP Code Tabulation Areas of Census 2000. The guidance says not to rely on it where
more current data has been published. ``census_2020``: the 18 areas that the Health Resources and Services
Administration (HHS) names for its UDS+ reports by Census 2020 (UDS+ Office Hours FAQ, as quoted on 18 March 2024 at
github.com/drajer-health/uds-plus/issues/35). Whoever takes both, as is the default, keeps to either.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

LISTS = ("census_2000", "census_2020")
"""The lists that come with the program, by the census that they go by."""
WRITTEN = rf"^({'|'.join(LISTS)}|[0-9]{{3}})$"
"""How an entry of ``small_areas`` is written: the name of a list, or the three digits of an area."""
NO_AREA = "000"
"""What stands for all of them."""


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
