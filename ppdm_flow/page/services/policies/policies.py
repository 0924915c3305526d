"""Policies as files: listed, read, written whole, renamed, removed; nobody overwrites what they have not seen."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path, PurePosixPath

from ppdm_flow.api.explain.templates import template_names
from ppdm_flow.api.loading.kinds import FileIdentity, FileKind, identity_of, kind_by_lines
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.bounded import CHECKS, LimitExceededError
from ppdm_flow.page.services.policies.history import FOUND, REMOVED, WROTE, FileHistory, Version
from ppdm_flow.page.services.policies.writing import as_bytes, make, plain, put
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.policy.text.nodes import UnreadableError
from ppdm_flow.policy.text.reading import SIZE_LIMIT, decode

_Stamp = tuple[int, int, int, int]
_MOST_FILES = 1_000
"""Files that one person wrote last: pages of all stewards list each file, and look at it."""
_MOST_BYTES = 5_000_000
"""Bytes of the YAML files that one person wrote last: a server that begins parses all of them, in a second for each."""
MOST_READ = 4_000_000
"""Bytes of a YAML file that is read: what is longer than a policy may be is shown, as long as it is not much longer."""
_TOGETHER, _BYTES_TOGETHER = 20, 2_000_000
"""Files that are parsed in one process: beginning one takes longer than most texts, and it has few seconds."""


class UnknownPolicyError(LookupError):
    """There is no file of this name."""


class TooLongError(RefusalError):
    """A file is longer than what is read of it: Git brings files of any size."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__("policies.too_long", 413, name=name, most=f"{most / 1_000_000:g}")


class ChangedMeanwhileError(Exception):
    """The file is no longer what somebody had read: ``now`` is what it is. Nothing was written."""

    def __init__(self, now: PolicyText) -> None:
        self.now = now
        super().__init__(now.name)


@dataclass(frozen=True, slots=True)
class PolicyText:
    """The text of a file, with line feeds between its lines; ``digest`` is the SHA-256 of its bytes."""

    name: str
    text: str
    digest: str


class PolicyFiles:
    """The files below a folder: YAML, and the tables (CSV) that policies name. A name is a path below it, with ``/``.

    Names come from anybody: each is looked up in what the folder holds. ``ended`` is called with the name of a file
    that went, or that a new one is about to get: what was chosen for the old one is not meant for it.
    """

    def __init__(self, folder: Path, history: FileHistory, ended: Callable[[str], None] = lambda _name: None) -> None:
        self.folder = folder.absolute()
        self.history = history
        self._ended = ended
        self._writing = threading.Lock()
        self._known: Mapping[str, tuple[_Stamp, FileIdentity]] = {}
        self._parsed: set[str] = set()
        """Names of the files that some request parses at this moment."""

    def list(self) -> tuple[PolicyFile, ...]:
        """Return all YAML files by name."""
        return tuple(PolicyFile(name, each.kind) for name, each in self._identities().items())

    def names(self) -> tuple[str, ...]:
        """Return the names of the policies, which can be run."""
        return tuple(each.name for each in self.list() if each.kind is FileKind.POLICY)

    def named(self) -> Mapping[str, str | None]:
        """Return the names that the texts of all YAML files give their policies, by file; others have none."""
        return {file: each.name for file, each in self._identities().items()}

    def files(self) -> tuple[str, ...]:
        """Return the names of the YAML files of any kind."""
        return tuple(files_below(self.folder, YAML))

    def tables(self) -> tuple[str, ...]:
        """Return the names of the CSV files."""
        return tuple(files_below(self.folder, TABLES))

    def identity(self, name: str) -> FileIdentity:
        """Return what a YAML file is; one that went meanwhile is nothing."""
        return self._identities().get(name, FileIdentity(FileKind.OTHER))

    def _identities(self) -> Mapping[str, FileIdentity]:
        """Return what all YAML files are, by name. Each is parsed once, as long as it does not change.

        Requests that come at once share the work: each begins with files that no other one parses.
        """
        paths, stamps = files_below(self.folder, YAML), dict[str, _Stamp]()
        for name, path in paths.items():
            with suppress(FileNotFoundError):  # removed or renamed meanwhile
                stamps[name] = _stamp(path)
        known: dict[str, tuple[_Stamp, FileIdentity]] = {}
        while True:
            known |= {name: each for name, each in self._known.items() if each[0] == stamps.get(name)}
            self._known = known.copy()
            new = {name: stamp for name, stamp in stamps.items() if name not in known}
            if not new:
                return {name: known[name][1] for name in stamps}
            batch = _batch({name: stamp for name, stamp in new.items() if name not in self._parsed} or new)
            self._parsed.update(batch)
            try:
                identities = _bounded_identities([paths[name] for name in batch])
            finally:
                self._parsed.difference_update(batch)
            known |= {name: (stamps[name], each) for name, each in zip(batch, identities, strict=True)}

    def path(self, name: str) -> Path:
        """Return where a file is. Raises UnknownPolicyError where the folder holds none of this name."""
        path = files_below(self.folder, (*YAML, *TABLES)).get(name)
        if path is None:
            raise UnknownPolicyError(name)
        return path

    def read(self, name: str, most: int | None = None) -> PolicyText:
        """Return a file's text.

        Raises UnknownPolicyError, PolicyError (PPF102) where it is not UTF-8, and TooLongError where it has more bytes
        than ``most``, or is a YAML file of more than 4 MB; no more than those are read.
        """
        data = self._bytes(name, MOST_READ if most is None and name.endswith(YAML) else most)
        try:
            text = decode(data, name)
        except UnreadableError as error:
            raise PolicyError(error.diagnostic) from None
        return PolicyText(name, plain(text), digest(data))

    def _bytes(self, name: str, most: int | None) -> bytes:
        try:
            with self.path(name).open("rb") as file:
                data = file.read() if most is None else file.read(most + 1)
        except FileNotFoundError:  # it went between the look and the reading
            raise UnknownPolicyError(name) from None
        if most is not None and len(data) > most:
            raise TooLongError(name, most)
        return data

    def write(self, name: str, text: str, digest: str, user: User) -> PolicyText:
        """Write a file that somebody read when its digest was this. The text before is kept in the history.

        Raises UnknownPolicyError, ChangedMeanwhileError where it is another one by now, and RefusalError where there is
        no room for another version.
        """
        with self._writing:
            before = self.read(name)
            if before.digest != digest:
                raise ChangedMeanwhileError(before)
            self.history.check_room(user, max(text, before.text, key=len))
            if len(text.encode(errors="replace")) > len(before.text.encode()):
                self._check_bytes(user, name, text)
            path = self.path(name)
            self.history.keep(name, FOUND, before.digest, before.text, None)
            put(path, as_bytes(text, path.read_bytes()), path.stat().st_mode & 0o777)
            after = self.read(name)
            self.history.keep(name, WROTE, after.digest, after.text, user)
            return after

    def create(self, name: str, text: str, user: User) -> PolicyText:
        """Make a file.

        Raises UnusableNameError for a name that no file can have, FileExistsError for one that is, and RefusalError
        where there is no room for it, or the person has many files.
        """
        with self._writing:
            path = new_path(self.folder, name, (*YAML, *TABLES))
            self._check_files(user)
            self._check_bytes(user, name, text)
            self.history.check_room(user, text)
            if not path.exists():  # Git may have removed the one before
                self._ended(name)
            make(path, as_bytes(text, b""))
            after = self.read(name)
            self.history.keep(name, WROTE, after.digest, after.text, user)
            return after

    def check_new(self, name: str) -> None:
        """Raise UnusableNameError for a name that no file can have, FileExistsError for one that is."""
        if new_path(self.folder, name, (*YAML, *TABLES)).exists():
            raise FileExistsError

    def rename(self, name: str, new: str, digest: str, user: User) -> None:
        """Give a file another name, of the same kind. Raises what ``write`` and ``create`` raise."""
        with self._writing:
            before = self._unchanged(name, digest)
            path = self.path(name)
            place = new_path(self.folder, new, YAML if name.endswith(YAML) else TABLES)
            self.history.check_room(user, before.text)
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists():
                self._ended(new)
            os.link(path, place)
            self._unlink(path)
            self._ended(name)
            self.history.keep(name, REMOVED, before.digest, before.text, user)
            self.history.keep(new, WROTE, before.digest, before.text, user)

    def remove(self, name: str, digest: str, user: User) -> None:
        """Remove a file; its text stays in the history. Raises UnknownPolicyError, ChangedMeanwhileError."""
        with self._writing:
            before = self._unchanged(name, digest)
            self.history.check_room(user, before.text)
            self.history.keep(name, REMOVED, before.digest, before.text, user)
            self._unlink(self.path(name))
            self._ended(name)

    def restore(self, version: Version, user: User) -> PolicyText:
        """Make a file again that was removed. Raises what ``create`` raises."""
        return self.create(version.name, version.text, user)

    def _check_files(self, user: User) -> None:
        """Raise RefusalError where somebody wrote so many files that there is to be no further one."""
        if len(self.history.written_by(user) & files_below(self.folder, (*YAML, *TABLES)).keys()) >= _MOST_FILES:
            raise RefusalError("policies.too_many_files", 429, most=_MOST_FILES)

    def _check_bytes(self, user: User, name: str, text: str) -> None:
        """Raise RefusalError where the YAML files that somebody wrote would be too large with this text."""
        if not name.endswith(YAML):
            return
        own, files = self.history.written_by(user) - {name}, files_below(self.folder, YAML)
        size = len(text.encode(errors="replace"))
        for path in (files[each] for each in own & files.keys()):
            with suppress(FileNotFoundError):  # removed by Git
                size += path.stat().st_size
        if size > _MOST_BYTES:
            raise RefusalError("policies.large_files", 429, most=_MOST_BYTES // 1_000_000)

    def _unlink(self, path: Path) -> None:
        """Remove a file, and the folders that are empty then: every page looks into each folder that there is."""
        path.unlink()
        for folder in path.relative_to(self.folder).parents[:-1]:
            try:
                (self.folder / folder).rmdir()
            except OSError:  # something else is in it
                return

    def _unchanged(self, name: str, digest: str) -> PolicyText:
        before = self.read(name)
        if before.digest != digest:
            raise ChangedMeanwhileError(before)
        return before


def identities_of(paths: Sequence[Path]) -> tuple[FileIdentity, ...]:
    """Return what files are; one that went meanwhile is nothing."""
    return tuple(identity_of(path, head_of(path)) for path in paths)


def _batch(stamps: Mapping[str, _Stamp]) -> list[str]:
    """Return the names of the first files, by their stamps, that are few and small enough to be parsed together."""
    sizes = accumulate(size for _, size, *_ in stamps.values())
    few = islice(zip(stamps, sizes, strict=True), _TOGETHER)
    return [name for place, (name, size) in enumerate(few) if not place or size <= _BYTES_TOGETHER]


def _bounded_identities(paths: Sequence[Path]) -> tuple[FileIdentity, ...]:
    """Return what files are; one that alone takes too long has no name: no job could read it either."""
    try:
        return CHECKS.run(identities_of, paths)
    except LimitExceededError:
        if len(paths) == 1:
            return (FileIdentity(kind_by_lines(paths[0], head_of(paths[0]))),)
        return tuple(each for path in paths for each in _bounded_identities([path]))


def head_of(path: Path) -> bytes:
    """Return a file as far as a policy may go, and a byte more."""
    try:
        with path.open("rb") as file:
            return file.read(SIZE_LIMIT + 1)
    except OSError:
        return b""


def _stamp(path: Path) -> _Stamp:
    about = path.stat()
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def digest(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


# The files of the folder of policies that people see: by name, which is never joined to a path without a look.


YAML = (".yaml", ".yml")
TABLES = (".csv",)
_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*/){0,8}[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_DEEPEST = 32
"""Folders, one in the other, in which files are looked for: Git brings a thousand of them as well."""
_LONGEST = 200
_LONGEST_POLICY = 64
_POLICY = re.compile(
    rb"""^["']?name["']?[ \t]*:[ \t]*(["']?)([A-Za-z][A-Za-z0-9_-]*)\1[ \t]*(?:#.*)?\r?$""", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A YAML file: ``name`` is its path below the folder, with ``/``."""

    name: str
    kind: FileKind


class UnusableNameError(ValueError):
    """A new file cannot have this name."""


def files_below(folder: Path, endings: tuple[str, ...]) -> dict[str, Path]:
    """Return the files with these endings, by name.

    What is hidden, a link, in many folders, or has a name nobody can type is none.
    """
    return dict(sorted(_walk(folder, folder, endings, _DEEPEST)))


def named_after(text: str, file: str) -> str:
    """Return a policy's text with the name that goes with a file; one without a line for its name stays as it is."""
    data = text.encode()
    policy_line = _POLICY.search(data)
    if policy_line is None:
        return text
    return (data[: policy_line.start(2)] + policy_name(file).encode() + data[policy_line.end(2) :]).decode()


def policy_name(file: str) -> str:
    """Return the name that a new policy in a file has."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", PurePosixPath(file).stem)
    return (stem if stem[:1].isalpha() else f"policy-{stem}")[:_LONGEST_POLICY]


def new_path(folder: Path, name: str, endings: tuple[str, ...]) -> Path:
    """Return where a new file of this name goes. Raises UnusableNameError.

    A name has letters, digits, ``_``, ``-`` and ``.``, in folders or not; its folders are no links.
    """
    if len(name) > _LONGEST or not _NAME.fullmatch(name) or not name.endswith(endings):
        raise UnusableNameError
    path = folder
    for part in name.split("/"):
        path /= part
        if path.is_symlink():
            raise UnusableNameError
    if any(each.exists() and not each.is_dir() for each in path.parents if each.is_relative_to(folder)):
        raise UnusableNameError
    return path


def _walk(folder: Path, root: Path, endings: tuple[str, ...], deep: int) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or not entry.name.isprintable():
                continue
            if entry.is_dir(follow_symlinks=False) and deep:
                with suppress(FileNotFoundError):  # it went with its last file meanwhile
                    yield from _walk(Path(entry.path), root, endings, deep - 1)
            elif entry.is_file(follow_symlinks=False) and entry.name.endswith(endings):
                path = Path(entry.path)
                yield path.relative_to(root).as_posix(), path


FRAME, COPY = "frame", "copy:"
_FRAME = """version: 1
name: {name}
{extends}
source: {{path: data.csv}}

attributes:
  id: {{role: identifier}}

privacy:
  k_anonymity: {{k: 5}}

releases:
  public: {{path: public.csv}}
"""


def starts(policies: PolicyFiles) -> dict[str, str]:
    """Return what can be started from, with the name of the template or policy; that of the frame is empty."""
    templates = {name: name for name in template_names()}
    return {FRAME: "", **templates, **{f"{COPY}{name}": name for name in policies.names()}}


def text_for(policies: PolicyFiles, start: str, file: str) -> str:
    """Return the text of a new policy in a file of this name."""
    if start.startswith(COPY):
        return named_after(policies.read(start.removeprefix(COPY)).text, file)
    extends = "" if start == FRAME else f"extends: [{{template: {start}}}]\n"
    return _FRAME.format(name=policy_name(file), extends=extends)


__all__ = [
    "MOST_READ",
    "ChangedMeanwhileError",
    "FileKind",
    "PolicyFiles",
    "PolicyFile",
    "PolicyText",
    "TooLongError",
    "UnknownPolicyError",
    "UnusableNameError",
    "digest",
    "head_of",
]
