"""Envelopes of a run in an object store: written there after the run's copy was signed, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.addresses.bucket import BucketAddress
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import RunError
from ppdm_flow.engine import manifest
from ppdm_flow.engine.buckets.store import Store
from ppdm_flow.engine.evidence.signing import SignedRelease
from ppdm_flow.engine.faults import run_fault


@dataclass(frozen=True, slots=True)
class SignedBucketRun:
    """A run by its address."""

    address: BucketAddress

    def send(self, local: Path, signed: Sequence[SignedRelease]) -> None:
        """Write the envelopes, then the copies in the releases; what is there already is written over by itself.

        Raises RunError where the run is not the one that was signed any more, or an object reads back otherwise.
        """
        store = Store(self.address, RunError)
        if store.sha256(self._at(manifest.NAME)) != sha256(local / manifest.NAME):
            raise run_fault("PPF468", f"`{self.address.shown}` was replaced while it was being signed")
        names = [name for each in signed for name in (each.name, each.copy) if name]
        for name in sorted(names, key=lambda name: name.count("/")):
            place = self._at(name)
            store.write(place, local / name)
            if store.sha256(place) != sha256(local / name):
                raise run_fault("PPF468", f"`{place.shown}` reads back otherwise than it was written: sign again")

    def _at(self, name: str) -> BucketAddress:
        return self.address.below(*name.split("/"))
