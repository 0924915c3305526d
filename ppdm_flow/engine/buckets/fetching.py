"""Objects as local files: copied once into a private folder, and held against the store again before a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.addresses.bucket import BucketAddress, is_name
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import file_set
from ppdm_flow.engine.buckets.store import Stamp, Store

_MARKS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class FetchedFiles:
    """A local copy: ``local`` is its file, folder or glob, and ``stamps`` are those of the objects below ``root``.

    ``names`` are all objects that were there, for a folder or a glob: None for one object.
    """

    store: Store
    address: BucketAddress
    root: BucketAddress
    local: Path
    stamps: Mapping[str, Stamp]
    names: tuple[str, ...] | None = None

    def unchanged(self) -> None:
        """Raise DataError where an object is not what was copied, or one came or went."""
        if self.names is not None and self.store.listing(self.root) != self.names:
            raise self.store.replaced(self.address)
        for name, stamp in self.stamps.items():
            each = self.root.below(*name.split("/")) if name else self.root
            if self.store.stamp(each) != stamp:
                raise self.store.replaced(each)


def fetch(address: BucketAddress, folder: Path) -> FetchedFiles:
    """Copy an object, the objects of a folder, or those that fit a glob into an empty folder. Raises DataError.

    What is there under that very name is no glob, as on a disk.
    """
    store = Store(address)
    if address.key and store.stamp(address) is not None:
        local = folder / address.name
        return FetchedFiles(store, address, address, local, {"": store.fetch(address, local)})
    first = next((i for i, name in enumerate(address.names) if not _MARKS.isdisjoint(name)), len(address.names))
    root = BucketAddress(address.scheme, address.bucket, "/".join(address.names[:first]))
    names = listed(store, root)
    below = folder / root.name
    below.mkdir(mode=0o700)
    local = below.joinpath(*address.names[first:])
    wanted = _wanted(below, local, names)
    if not wanted:
        store.check_bucket()
        raise _nothing(address, glob=first < len(address.names))
    stamps = {name: store.fetch(root.below(*name.split("/")), below / name) for name in wanted}
    return FetchedFiles(store, address, root, local, stamps, names)


def fetch_all(address: BucketAddress, folder: Path) -> None:
    """Copy every object below an address into an empty folder. Raises DataError."""
    store = Store(address)
    names = listed(store, address)
    if not names:
        store.check_bucket()
    for name in names:
        file = folder / name
        _make_folders(folder, file.parent)
        store.fetch(address.below(*name.split("/")), file)


def listed(store: Store, root: BucketAddress) -> tuple[str, ...]:
    """Return the names of all objects below. Raises DataError where two of them cannot be files beside each other."""
    names = store.listing(root)
    files = frozenset(names)
    for name in names:
        parts = name.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts)))
        if not all(is_name(part) for part in parts) or any(each in files for each in above):
            text = f"`{root.shown}` has objects whose names cannot be those of files beside each other"
            raise DataError(Diagnostic("PPF467", text))
    return names


def _wanted(below: Path, local: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that a folder or a glob on disk would have, by the very code that finds those."""
    for name in names:
        file = below / name
        _make_folders(below, file.parent)
        file.touch(mode=0o600)
    try:
        found = {part.path.relative_to(below).as_posix() for part in file_set(local).parts} if names else set()
    except DataError as error:
        if all(each.code == "PPF460" for each in error.diagnostics):
            found = set()
        else:
            raise
    finally:
        for name in names:
            (below / name).unlink()
    return tuple(sorted(found))


def _make_folders(root: Path, folder: Path) -> None:
    if folder != root:
        _make_folders(root, folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _nothing(address: BucketAddress, *, glob: bool) -> DataError:
    text = (
        f"no object fits the glob `{address.shown}`"
        if glob
        else f"there is no object, and no folder, `{address.shown}`"
    )
    help_ = "names that begin with `.` or `_` do not count"
    return DataError(Diagnostic("PPF460", text, help=help_))
