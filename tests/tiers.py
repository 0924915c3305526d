"""The two tiers of the suite: what the quick one leaves out, and how many examples a property gets in each.

``pytest`` runs the quick tier, ``pytest --full`` every test. A test with one of `MARKERS` is left out of the quick
tier; with ``quick=3`` the first three items of that test function stay in it. Markers of whole folders come from
`PATHS`, all others are written at the test function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

MARKERS = {
    "slow": "takes long",
    "spark": "starts a Spark session",
    "server": "starts a database, an object store or a web server",
    "browser": "drives a browser",
    "kill": "kills processes",
    "random": "many random tables against brute force",
}
PATHS = {
    "page/browser/": "browser",
    "cluster/": "spark",
    "golden/": "slow",
    "mutants/": "random",
    "adversary/": "random",
}
"""Folders of ``tests/`` whose tests are all of one kind."""

settings.register_profile("quick", deadline=None, derandomize=True, database=None, max_examples=10)
settings.register_profile("full", settings.get_profile("quick"), max_examples=30)


def examples(number: int, **more: Any) -> settings:
    """Give a property ``number`` examples in the full tier, and a third of them, but at least ten, in the quick one.

    ``more`` are other settings of Hypothesis.
    """
    share = number * settings.default.max_examples // 30
    return settings(max_examples=max(share, min(number, 10)), **more)


def mark_folders(items: Sequence[pytest.Item], tests: Path) -> None:
    """Mark the tests of the folders in `PATHS`, but those that have a marker of their own."""
    for item in items:
        place = item.path.relative_to(tests).as_posix()
        marker = next((name for folder, name in PATHS.items() if place.startswith(folder)), None)
        if marker and not _markers(item):
            item.add_marker(marker)


def split_tiers(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests of the quick tier, and those that only the full one has."""
    quick, rest = [], []
    kept: Counter[str] = Counter()
    for item in items:
        markers = _markers(item)
        function = item.nodeid.partition("[")[0]
        stays = not markers or kept[function] < max(marker.kwargs.get("quick", 0) for marker in markers)
        kept[function] += stays
        (quick if stays else rest).append(item)
    return quick, rest


def take_shard(items: Sequence[pytest.Item], shard: str) -> list[pytest.Item]:
    """Return one share of the test modules: ``2/4`` is the second of four. Raises UsageError for another form."""
    number, _, count = shard.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise pytest.UsageError(f"--shard is a share such as 2/4, not {shard}")
    modules = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
    return [item for item in items if modules[item.path] % int(count) == int(number) - 1]


def _markers(item: pytest.Item) -> list[pytest.Mark]:
    return [marker for marker in item.iter_markers() if marker.name in MARKERS]
