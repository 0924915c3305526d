"""Signing a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.engine.evidence.signing import SignedRelease, signed
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.evidence.key_files import Password, read_signing_key

if TYPE_CHECKING:
    from ppdm_flow.engine.evidence.signing import SignedBucketRun


@dataclass(frozen=True, slots=True)
class WrittenSignatures:
    """What was signed: with which key, in which role, and where the envelopes are."""

    key_id: str
    role: str
    releases: tuple[SignedRelease, ...]
    where: str

    @property
    def text(self) -> str:
        """The envelopes' files, a line each."""
        return "".join(f"{self.where}/{each.name}\n" for each in self.releases)


def sign(
    run: Path,
    key: Path,
    role: str,
    releases: Sequence[str] = (),
    password: Password = lambda: None,
    now: Callable[[], datetime] = utc_now,
) -> WrittenSignatures:
    """Sign the releases of a run (all, where none is named) with the key in a file, in a role.

    ``password`` is asked for where the key is encrypted. The run may be in an object store, where the envelopes are
    written then. Raises DataError where the key cannot be used, UsageError where the run is not to be signed: it was
    withheld, is not as it was, or has no such release.
    """
    private = read_signing_key(key, password)
    if not is_bucket(run):
        done = signed(run, private, role, now(), releases)
        return WrittenSignatures(private.public.key_id, role, done, str(run))
    with copies_for() as copies:
        place = copies.local_run(run)
        bucket = _bucket(run)
        done = signed(place, private, role, now(), releases)
        bucket.send(place, done)
        return WrittenSignatures(private.public.key_id, role, done, bucket.address.shown)


def _bucket(run: Path) -> SignedBucketRun:
    from ppdm_flow.engine.buckets.store import address_of  # noqa: PLC0415  # only buckets need it
    from ppdm_flow.engine.evidence.signing import SignedBucketRun  # noqa: PLC0415  # the same

    return SignedBucketRun(address_of(run))
