"""The private folder for copies from object stores. It is removed however its use ends."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ppdm_flow.core.addresses import BucketAddress, is_bucket, is_name, refuse_table
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PpdmError, UsageError
from ppdm_flow.core.file_sets import file_set
from ppdm_flow.core.texts import OPERATOR
from ppdm_flow.engine.buckets.store import Stamp, Store, address_of
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.candidates.unpublished import clear_stale_runs
from ppdm_flow.engine.faults import output_fault, run_fault

FOLDER = ".ppdm-flow"
"""The folder for copies in the output of runs."""


@dataclass(slots=True)
class BucketCopies:
    """Copies are made in a hidden folder below ``parent``, else in one of the user's below the temporary folder.

    The folder is made when it is needed, and locked while its process lives: the next one removes what a killed one
    left.
    """

    parent: Path | None = None
    fetched: list[FetchedFiles] = field(default_factory=list)
    _scratch: RunDirectory | None = None
    _shown: dict[str, str] = field(default_factory=dict)

    def local(self, path: Path) -> Path:
        """Return the path of local data, or of a local copy. Raises UsageError, DataError."""
        refuse_table(path)
        if not is_bucket(path):
            return path
        address = address_of(path)
        folder = self.folder(f"read-{len(self.fetched)}")
        self._shown[str(folder / address.name)] = address.shown
        files = fetch(address, folder)
        self._shown[str(files.local)] = address.shown
        self.fetched.append(files)
        return files.local

    def local_tables(self, paths: Sequence[Path]) -> Path:
        """Return a folder with the files of linked tables, each by its own name: copies, and links to local ones.

        Raises UsageError, DataError.
        """
        folder = self.folder("tables")
        for path in paths:
            there = folder / path.name
            if there.is_symlink():
                text = f"two linked tables have files of the name `{path.name}`, and one of them is in an object store"
                raise UsageError(Diagnostic("PPF469", text, help="give the folder with their files with `--data`"))
            there.symlink_to(self.local(path).absolute())
            self._shown[str(there)] = address_of(path).shown if is_bucket(path) else str(path)
        return folder

    def local_release(self, path: Path) -> Path:
        """Return a released file or folder on this machine, with the operators that lie beside it, as `local` does."""
        if not is_bucket(path):
            return path
        address = address_of(path)
        store = Store(address)
        if store.stamp(address) is not None:
            local = self.local(path)
        else:
            local = self.folder("released") / address.name
            local.mkdir(mode=0o700)
            self._shown[str(local)] = address.shown
            fetch_all(address, local)
        beside = BucketAddress(address.scheme, address.bucket, "/".join((*address.names[:-1], OPERATOR)))
        if store.stamp(beside) is not None:
            store.fetch(beside, local.parent / OPERATOR)
        return local

    def local_run(self, path: Path) -> Path:
        """Return a local run's directory, or a copy of one. Raises UsageError, DataError."""
        if not is_bucket(path):
            return path
        address = address_of(path)
        names = (address.bucket, *address.names)
        folder = self.folder("run") / (names[-2] if names[1:] else "run")
        folder.mkdir(mode=0o700)
        local = folder / address.name
        local.mkdir(mode=0o700)
        self._shown[str(local)] = address.shown
        fetch_all(address, local)
        return local

    def folder(self, name: str) -> Path:
        """Return a private folder."""
        if self._scratch is None:
            self._scratch = RunDirectory(self.parent or own_folder())
        return self._scratch.folder(name)

    def unchanged(self) -> None:
        """Raise DataError where an object is not what was copied."""
        for files in self.fetched:
            files.unchanged()

    def shows(self, local: Path, place: str) -> None:
        """Have messages name ``place`` where they would name a local path."""
        self._shown[str(local)] = place

    @contextmanager
    def name_objects_in_errors(self) -> Iterator[None]:
        """Remove the folder at the end; until then, errors name the objects and not their copies."""
        try:
            yield
        except PpdmError as error:
            error.diagnostics = tuple(self._placed(each) for each in error.diagnostics)
            raise
        finally:
            if self._scratch is not None:
                self._scratch.discard()

    def _placed(self, diagnostic: Diagnostic) -> Diagnostic:
        message, help_ = diagnostic.message, diagnostic.help
        for local in sorted(self._shown, key=len, reverse=True):
            message = message.replace(local, self._shown[local])
            help_ = help_ and help_.replace(local, self._shown[local])
        return replace(diagnostic, message=message, help=help_)


def own_folder() -> Path:
    """Return a folder below the temporary one that only this user may read. Raises RunError where others made it."""
    folder = _own()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
    except OSError as error:
        raise output_fault(error, "the folder for copies of objects") from None
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        text = f"`{folder}` is not a folder that only this user may read"
        raise run_fault("PPF693", text, advice="remove it, or set TMPDIR to another folder")
    return folder


def beside(out: Path) -> Path | None:
    """Return the folder for copies below the output of a run, if that is on this machine."""
    return None if is_bucket(out) else out / FOLDER


def clear_copies(out: Path) -> None:
    """Remove what killed runs left: copies of objects below ``out``, and in the user's own folder."""
    for folder in folders_of_copies(out):
        clear_stale_runs(folder)


def folders_of_copies(out: Path) -> list[Path]:
    """Return the folders, of this user, in which runs with this output have their private ones."""
    folders = [folder for folder in (beside(out), _own()) if folder is not None]
    return [f for f in folders if not f.is_symlink() and f.is_dir() and f.stat().st_uid == os.getuid()]


def _own() -> Path:
    return Path(tempfile.gettempdir()) / f"ppdm-flow-{os.getuid()}"


# Objects as local files: copied once into a private folder, and compared with the store again before a release.


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
        names_on_disk = {part.path.relative_to(below).as_posix() for part in file_set(local).parts} if names else set()
    except DataError as error:
        if all(each.code == "PPF460" for each in error.diagnostics):
            names_on_disk = set()
        else:
            raise
    finally:
        for name in names:
            (below / name).unlink()
    return tuple(sorted(names_on_disk))


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
