"""Data and runs in object stores, as use cases take them: copied first, and gone from this machine at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.core.addresses import is_bucket, refuse_table
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError, UsageError
from ppdm_flow.policy import load

if TYPE_CHECKING:  # only what is in a bucket needs it
    from ppdm_flow.engine.buckets.copies import BucketCopies
    from ppdm_flow.engine.buckets.sending import BucketPlace


@contextmanager
def copies_for(out: Path | None = None) -> Iterator[BucketCopies]:
    """Lend a maker of local copies, below ``out`` if that is on this machine; what it made is gone at the end."""
    from ppdm_flow.engine.buckets.copies import BucketCopies, beside  # noqa: PLC0415  # checks need no engine

    copies = BucketCopies(None if out is None else beside(out))
    with copies.name_objects_in_errors():
        yield copies


@contextmanager
def local_data(data: Path | None) -> Iterator[Path | None]:
    """Lend data that is on this machine: what is in an object store is copied. Raises UsageError, DataError."""
    refuse_table(data)
    if data is None or not is_bucket(data):
        yield data
        return
    with copies_for() as copies:
        yield copies.local(data)


@contextmanager
def policy_data(policy: Path, sets: Mapping[str, str], data: Path | None) -> Iterator[Path | None]:
    """Lend ``data``, or the policy's own where that is in an object store, from this machine."""
    if data is None and (own := _own(policy, sets)) is not None:
        data = own
    with local_data(data) as local:
        yield local


def place_of(out: Path, policy: str, *, keep_withheld: bool) -> BucketPlace:
    """Return where a run of a policy goes in an object store, which answers. Raises UsageError, RunError."""
    from ppdm_flow.engine.buckets.sending import BucketPlace  # noqa: PLC0415  # only buckets need it
    from ppdm_flow.engine.buckets.store import address_of  # noqa: PLC0415  # the same

    if keep_withheld:
        text = "what is withheld is not sent to an object store"
        raise UsageError(Diagnostic("PPF469", text, help="leave out `--keep-withheld`, or give a folder with `--out`"))
    place = BucketPlace(address_of(out).below(policy))
    place.check()
    return place


def _own(policy: Path, sets: Mapping[str, str]) -> Path | None:
    try:
        loaded = load(policy, sets).policy
    except PpdmError:
        return None
    path = None if loaded is None else loaded.source.path
    return Path(path) if path is not None and is_bucket(path) else None
