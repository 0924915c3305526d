"""What killed runs left in an object store: objects of runs that never got a manifest, and never will."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping

from ppdm_flow.core.addresses.bucket import BucketAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine import manifest
from ppdm_flow.engine.buckets.store import Entry, Store

_RUN = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{12}(-\d+)?")
_HOURS = 24
_SECONDS = 3600 * _HOURS


def remove_leftovers(store: Store, folder: BucketAddress, entries: Mapping[str, Entry], now: float) -> tuple[str, ...]:
    """Delete the objects of runs in ``folder`` without a manifest, and return the names of these runs.

    A run that is being sent has a new object every moment: only where the newest one is older than a day, by ``now`` in
    seconds since 1970, nobody is sending any more. What is no folder with the name of a run is left alone, and so is
    what cannot be deleted: without its manifest nobody takes it for a release.
    """
    removed = []
    for name in _old(entries, now):
        place = folder.below(name)
        with contextlib.suppress(PpdmError):
            there = store.entries(place)
            if name in _old({f"{name}/{each}": entry for each, entry in there.items()}, now):  # it may have gone on
                store.delete_folder(place)
                removed.append(name)
    return tuple(removed)


def _old(entries: Mapping[str, Entry], now: float) -> Iterator[str]:
    """Yield the names of runs that have no manifest, and whose newest object is old."""
    runs: dict[str, dict[str, Entry]] = {}
    for path, entry in entries.items():
        run, _, name = path.partition("/")
        if name and _RUN.fullmatch(run):
            runs.setdefault(run, {})[name] = entry
    for run, objects in runs.items():
        times = [entry.time for entry in objects.values()]
        known = [time for time in times if time is not None]
        if manifest.NAME not in objects and len(known) == len(times) and max(known) / 1e9 < now - _SECONDS:
            yield run
