"""Publishes a run in an object store: object by object, each read back, and the manifest last."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.addresses import BucketAddress
from ppdm_flow.core.errors import PpdmError, RunError
from ppdm_flow.engine import manifest
from ppdm_flow.engine.buckets.store import Stamp, Store
from ppdm_flow.engine.candidates.unpublished import CANDIDATE, RELEASED
from ppdm_flow.engine.faults import run_fault

_RUN_NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{12}(-\d+)?")
_DAY = 24 * 3600


@dataclass(slots=True)
class BucketPlace:
    """A place of runs: ``folder`` is the ``--out`` of a policy. A run without its manifest is no release there.

    ``run`` is where the run is sent to, once that is known; ``maybe_out`` whether its manifest is there or may be.
    """

    folder: BucketAddress
    run: BucketAddress | None = None
    maybe_out: bool = False
    _begun: bool = False
    _sent: dict[str, Stamp | None] = field(default_factory=dict)

    @property
    def ledger_folder(self) -> str:
        """The folder as a ledger names it."""
        return self.folder.url

    def check(self) -> None:
        """Raise RunError where the store cannot even be listed: better before the work than after it.

        What killed runs of the policy left there is deleted, once it is a day old.
        """
        store = self._store()
        store.check_bucket()
        remove_leftovers(store, self.folder, store.entries(self.folder), time.time())

    def taken(self, name: str) -> bool:
        """Whether there are objects by the name of a run. Raises RunError."""
        return bool(self._store().listing(self.folder.below(name)))

    def send(self, home: Path, files: Mapping[str, str]) -> None:
        """Write all files of a run but the manifest, read them back, and compare their hashes.

        Raises RunError; what was sent until then is to be withdrawn.
        """
        store = self._store()
        self.run = self.folder.below(home.name)
        if store.listing(self.run):
            raise run_fault("PPF468", f"there are objects at `{self.run.shown}` already: nothing was sent there")
        for name in sorted(files.keys() - {manifest.NAME}):
            self._written(store, home / name, self._final(name), files[name])
        self._alone(store)

    def commit(self, home: Path, files: Mapping[str, str]) -> None:
        """Write the manifest: from now on it is a release. Raises RunError where it is not, or nobody can say."""
        store, digest = self._store(), files[manifest.NAME]
        self._alone(store)
        self.maybe_out = True
        try:
            self._written(store, home / manifest.NAME, manifest.NAME, digest)
        except RunError:
            self._settle(store)
            if not self.maybe_out:
                raise
            place = self._at(manifest.NAME).shown
            help_ = "it counts as released: look with `ppdm-flow verify` once the store answers"
            raise run_fault("PPF468", f"nobody can say whether `{place}` was written", advice=help_) from None

    def _alone(self, store: Store) -> None:
        """Raise RunError where other objects are there than were sent, or newer ones: two runs can have one name."""
        run = self.run or self.folder
        if dict(store.entries(run)) != self._sent:
            raise run_fault("PPF468", f"others write to `{run.shown}`: the run was not published")

    def withdraw(self) -> None:
        """Delete what was sent, as far as that can be. Without the manifest it is no release."""
        if self._begun and self.run is not None:
            with contextlib.suppress(PpdmError):
                self._store().delete_folder(self.run)

    def _settle(self, store: Store) -> None:
        """Take back a manifest that was not confirmed, and find out whether it is gone."""
        place = self._at(manifest.NAME)
        with contextlib.suppress(PpdmError):
            if store.stamp(place) is not None:
                store.delete(place)
            self.maybe_out = store.stamp(place) is not None

    def _written(self, store: Store, file: Path, name: str, digest: str) -> None:
        place = self._at(name)
        self._begun = True
        store.write(place, file)
        if store.sha256(place) != digest:
            raise run_fault("PPF468", f"`{place.shown}` reads back otherwise than it was written: it was not published")
        if name != manifest.NAME:
            self._sent[name] = store.entry(place)

    def _at(self, name: str) -> BucketAddress:
        run = self.run or self.folder
        return run.below(*name.split("/"))

    def _final(self, name: str) -> str:
        return f"{RELEASED}/{name.removeprefix(f'{CANDIDATE}/')}" if name.startswith(f"{CANDIDATE}/") else name

    def _store(self) -> Store:
        return Store(self.folder, RunError)


def remove_leftovers(store: Store, folder: BucketAddress, entries: Mapping[str, Stamp], now: float) -> tuple[str, ...]:
    """Delete the objects of runs in ``folder`` without a manifest, and return the names of these runs.

    A run that is being sent has a new object every moment: only where the newest one is older than a day, by ``now`` in
    seconds since 1970, nobody is sending any more. What is no folder with the name of a run is left alone, and so is
    what cannot be deleted: without its manifest nobody takes it for a release.
    """
    removed = []
    for name in _abandoned(entries, now):
        place = folder.below(name)
        with contextlib.suppress(PpdmError):
            there = {f"{name}/{each}": entry for each, entry in store.entries(place).items()}
            if name in _abandoned(there, now):  # it may have gone on
                store.delete_folder(place)
                removed.append(name)
    return tuple(removed)


def _abandoned(entries: Mapping[str, Stamp], now: float) -> Iterator[str]:
    """Yield the names of runs that have no manifest, and whose newest object is old."""
    runs: dict[str, dict[str, Stamp]] = {}
    for path, entry in entries.items():
        run, _, name = path.partition("/")
        if name and _RUN_NAME.fullmatch(run):
            runs.setdefault(run, {})[name] = entry
    for run, objects in runs.items():
        times = [entry.time for entry in objects.values()]
        known = [time for time in times if time is not None]
        if manifest.NAME not in objects and len(known) == len(times) and max(known) / 1e9 < now - _DAY:
            yield run
