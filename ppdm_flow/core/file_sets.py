"""Folders and globs of data files that are read as one table: the files, their order and their form."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import canonical, identity, sha256
from ppdm_flow.core.errors import DataError

_MARKS = frozenset("*?[")
MISSING_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""The name of a missing value in the names of folders."""
_PARTITION = re.compile(r"([^=]+)=(.*)", re.DOTALL)
_ANY_DEPTH = "**"
_PART = re.compile(r"part-\d{5,}\.")


@dataclass(frozen=True, slots=True)
class FilePart:
    """One file: its place below the root, with ``/``, and the columns that the names of its folders give it.

    A value None is a missing one.
    """

    path: Path
    relative: str
    partition: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class FileSet:
    """Files in the order in which they are read, that of their relative names."""

    root: Path
    parts: tuple[FilePart, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that the names of folders give."""
        return tuple(key for key, _ in self.parts[0].partition)

    def shown(self, number: int) -> str:
        """Return a name of one file without the values in the names of its folders, which are values of the data."""
        part = self.parts[number]
        if not part.partition:
            return str(part.path)
        *folders, name = part.relative.split("/")
        place = "/".join([*(_masked(folder) for folder in folders), name])
        return f"{self.root / place} (file {number + 1} of {len(self.parts)})"


def is_file_set(path: Path) -> bool:
    """Whether a path is a folder or a glob. What is there under that very name is no glob."""
    if path.is_dir():
        return True
    return not _MARKS.isdisjoint(str(path)) and not os.path.lexists(path)


def file_set(path: Path) -> FileSet:
    """Return the files of a folder or a glob. Raises DataError where there are none, or folders do not fit together.

    Names that begin with ``.`` or ``_`` are left out, those of folders too; a folder ``_name=value`` is a partition.
    """
    root, pattern = _split(path)
    files = FileSet(root, tuple(_part(root, relative) for relative in _sorted(path, root, pattern)))
    _check_folders(files, any_depth=_ANY_DEPTH in pattern.split("/"))
    return files


def telling_name(path: Path) -> str:
    """Return the name whose ending tells the format: that of the first file, where it is a folder or a glob.

    Raises DataError where there is none.
    """
    if not is_file_set(path):
        return path.name
    root, pattern = _split(path)
    return PurePosixPath(_sorted(path, root, pattern)[0]).name


def first_file(path: Path) -> Path:
    """Return the file, or the first one of a folder or a glob. Raises DataError where there is none."""
    return file_set(path).parts[0].path if is_file_set(path) else path


def data_sha256(path: Path) -> str:
    """Return the hash of a file's bytes; of several files that of a list of their hashes and relative names.

    The list is what ``sha256sum --zero`` prints of them, in their order.
    """
    if not is_file_set(path):
        return sha256(path)
    return listing_sha256((part.relative, sha256(part.path)) for part in file_set(path).parts)


def listing_sha256(files: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a list of relative names and hashes."""
    listing = hashlib.sha256()
    for relative, digest in files:
        listing.update(digest.encode() + b"  " + os.fsencode(relative) + b"\0")
    return listing.hexdigest()


def data_identity(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is written to, or comes or goes; the second number is the size in bytes."""
    if not is_file_set(path):
        return identity(path)
    each = [(os.fsencode(part.relative).hex(), *identity(part.path)) for part in file_set(path).parts]
    mark = int.from_bytes(hashlib.sha256(canonical(each)).digest()[:8])
    return mark, sum(size for _, _, size, _ in each), max(time for *_, time in each)


def is_in_parts(path: Path) -> bool:
    """Whether a release is what a cluster writes: a folder of files that are called `part-00000` and so on."""
    return path.is_dir() and any(_PART.match(part.path.name) for part in file_set(path).parts)


def below(folder: Path, path: Path) -> Path:
    """Return where a source is looked for in another folder: under its own name, a glob below that of its root."""
    if not is_file_set(path) or path.is_dir():
        return folder / path.name
    root, pattern = _split(path)
    inside = folder / root.name
    return (inside if inside.is_dir() else folder) / pattern


def _split(path: Path) -> tuple[Path, str]:
    """Return the folder that names start from, and the pattern below it; none for a folder."""
    if path.is_dir():
        return path, ""
    parts = path.parts
    first = next(i for i, part in enumerate(parts) if not _MARKS.isdisjoint(part))
    return Path(*parts[:first]), "/".join(parts[first:])


def _sorted(path: Path, root: Path, pattern: str) -> list[str]:
    """Return names below the root. Raises DataError where there is none, or where a folder cannot be read."""
    wanted = tuple((pattern or _ANY_DEPTH).split("/"))
    try:
        names = set(_find_names(root, "", wanted, ())) if root.is_dir() else set()
    except OSError as error:
        raise _unreadable(path, error) from None
    if not names:
        raise _nothing(path, pattern)
    return sorted(names)


def _find_names(folder: Path, prefix: str, pattern: tuple[str, ...], above: tuple[str, ...]) -> Iterator[str]:
    """Yield what fits, some of it perhaps twice; ``above`` are the folders on the way.

    Python's ``glob`` passes over folders that cannot be read, and then data would be missing.
    """
    head, rest = pattern[0], pattern[1:]
    real = os.path.realpath(folder)
    if real in above:
        raise DataError(Diagnostic("PPF463", f"`{without_values(str(folder))}` is a link to a folder that it lies in"))
    if head == _ANY_DEPTH and rest:
        yield from _find_names(folder, prefix, rest, above)
    with os.scandir(folder) as entries:
        listed = [(entry.name, entry.is_dir()) for entry in entries if not _skipped(entry.name)]
    for name, is_folder in listed:
        if head != _ANY_DEPTH and not fnmatchcase(name, head):
            continue
        if is_folder:
            below = pattern if head == _ANY_DEPTH else rest or (_ANY_DEPTH,)
            yield from _find_names(folder / name, f"{prefix}{name}/", below, (*above, real))
        elif not rest:
            yield _regular(folder, name, prefix)


def _regular(folder: Path, name: str, prefix: str) -> str:
    if not (folder / name).is_file():
        raise DataError(
            Diagnostic("PPF701", f"cannot read `{without_values(str(folder / name))}`: it is not a regular file")
        )
    return f"{prefix}{name}"


def _skipped(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _part(root: Path, relative: str) -> FilePart:
    pairs = [m.groups() for folder in relative.split("/")[:-1] if (m := _PARTITION.fullmatch(folder))]
    path = root / relative
    try:
        partition = tuple((_decoded(key), None if text == MISSING_PARTITION else _decoded(text)) for key, text in pairs)
    except UnicodeError:
        text = f"a folder of `{without_values(str(path))}` is no percent-encoded UTF-8 text"
        raise DataError(Diagnostic("PPF463", text)) from None
    keys = [key for key, _ in partition]
    if len(set(keys)) < len(keys):
        raise DataError(
            Diagnostic("PPF463", f"two folders of `{without_values(str(path))}` are partitions of one name")
        )
    return FilePart(path, relative, partition)


def _decoded(text: str) -> str:
    decoded = unquote(text, errors="strict")
    decoded.encode()  # a name of the file system that is no text has surrogates
    if "\0" in decoded:
        raise UnicodeError
    return decoded


def _check_folders(files: FileSet, *, any_depth: bool) -> None:
    """Raise DataError where files have other partitions than the first, or stand deeper."""
    first = files.parts[0]
    for number, part in enumerate(files.parts):
        if tuple(key for key, _ in part.partition) != files.keys:
            what = "is in other partitions than"
        elif part.relative.count("/") != first.relative.count("/") and not (any_depth and not files.keys):
            what = "is at another depth of folders than"
        else:
            continue
        text = f"`{files.shown(number)}` {what} `{files.shown(0)}`"
        help_ = "give a glob that fits the files of one table, or begin the names of others with `_`"
        raise DataError(Diagnostic("PPF463", text, help=help_))


def _nothing(path: Path, pattern: str) -> DataError:
    text = f"no file fits the glob `{path}`" if pattern else f"the folder `{path}` has no files"
    help_ = "names that begin with `.` or `_` do not count; `source.path` is relative to the policy, `--data` to here"
    return DataError(Diagnostic("PPF460", text, help=help_))


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(Diagnostic("PPF701", f"cannot read `{path}`: {error.strerror or type(error).__name__}"))


def without_values(path: str) -> str:
    """Return a path without the values of partitions, which are values of the data."""
    return "/".join(_masked(name) for name in path.split("/")).encode(errors="replace").decode()


def _masked(folder: str) -> str:
    match = _PARTITION.fullmatch(folder)
    return f"{match[1]}=…" if match else folder
