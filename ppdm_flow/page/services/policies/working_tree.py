"""The Git working tree that the folder of policies may be in: what is committed, and committing files of it."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from ppdm_flow.api.diff.revisions import NO_BARE_REPOSITORY
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.policies.policies import MOST_READ, TABLES, YAML, TooLongError

HEAD = "HEAD"
_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG")
_IDENTITY = {"GIT_COMMITTER_NAME": "ppdm_flow", "GIT_COMMITTER_EMAIL": "ppdm_flow@localhost"}
_UNSAFE = re.compile(r"[^\w .@+-]+")
_GONE, _REMOVED = "gone", "0" * 40
"""The mark of a file that is not there, and what an index says of one that is removed."""
_MANY = 50
_CODES = 3
"""Two letters and a space before each name of a status."""


class GitRefusedError(Exception):
    """Git made no commit.

    ``reason`` is ``unfinished``, ``detached``, ``nothing``, ``changed``, ``slow`` or ``refused``; ``told`` is what git,
    or a hook, said.
    """

    def __init__(self, reason: str, errors: str = "") -> None:
        self.reason, self.errors = reason, errors
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changed a file."""

    hash: str
    author: str
    at: datetime
    subject: str


@dataclass(frozen=True, slots=True)
class TreeState:
    """Where a working tree stands. ``changed`` are the policies and tables that are not as they are committed.

    ``marks`` tell when each of them was written last. ``unfinished``: a merge, rebase or the like was
    begun and not ended.
    """

    branch: str
    changed: tuple[str, ...]
    unfinished: bool
    marks: Mapping[str, str] = field(default_factory=dict)


class WorkingTree:
    """Git's view of a folder, which may be in no working tree."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def state(self) -> TreeState | None:
        """Return where the working tree stands; None where the folder is in none, or git does not trust it."""
        known = self._ask("rev-parse", "--is-inside-work-tree")
        if known.status or known.text.strip() != "true":
            return None
        branch = self._ask("symbolic-ref", "--short", "--quiet", HEAD).text.strip()
        words = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ".")
        prefix = self.prefix()
        entries = [entry for entry in self._ask(*words).text.split("\0") if entry]
        names = sorted(entry[_CODES:].removeprefix(prefix) for entry in entries)
        changed = tuple(name for name in names if name.endswith((*YAML, *TABLES)))
        return TreeState(branch, changed, self._unfinished(), {name: _mark(self._folder / name) for name in changed})

    def prefix(self) -> str:
        """Return the path of the folder in its repository, with a slash at its end; empty for the root."""
        return self._ask("rev-parse", "--show-prefix").text.rstrip("\n")

    def committed(self, name: str) -> str | None:
        """Return the text that a file has in the last commit; None where it has none.

        Raises TooLongError where it has more than 4 MB.
        """
        blob = f"{HEAD}:{self.prefix()}{name}"
        size = self._ask("cat-file", "-s", blob).text.strip()
        if size.isdecimal() and int(size) > MOST_READ:
            raise TooLongError(name, MOST_READ)
        answer = self._ask("cat-file", "blob", blob)
        return None if answer.status else answer.text.removeprefix("\ufeff").replace("\r\n", "\n")

    def log(self, name: str) -> list[Commit]:
        """Return the commits that changed a file, newest first."""
        words = ("log", f"--max-count={_MANY}", "-z", "--format=%H%n%an%n%aI%n%s", "--", name)
        entries = [entry.strip("\n").split("\n") for entry in self._ask(*words).text.split("\0") if entry.strip()]
        return [
            Commit(hash_, author, datetime.fromisoformat(at), subject[0] if subject else "")
            for hash_, author, at, *subject in entries
        ]

    def commit(self, seen: Mapping[str, str], message: str, user: User) -> str:
        """Commit these files, which had these marks when they were looked at, and no others; return the commit.

        It has the bytes that were there under these marks, even if a file is written meanwhile: an index of its own
        holds them. Raises GitRefusedError, also where a file was written since.
        """
        state = self.state()
        if state is None or state.unfinished:
            raise GitRefusedError("unfinished")
        if not state.branch:
            raise GitRefusedError("detached")
        chosen = [name for name in seen if name in state.changed]
        if not chosen:
            raise GitRefusedError("nothing")
        entries = b"".join(self._entry(name, seen[name]) for name in chosen)
        author = " ".join(_UNSAFE.sub(" ", user.name).split()) or "steward"
        mail = f"{re.sub('[^A-Za-z0-9.+-]+', '.', author).strip('.') or 'steward'}@localhost"
        born = self._ask("rev-parse", "--verify", "--quiet", HEAD).status == 0
        with TemporaryDirectory(prefix="ppdm-flow-") as folder:
            more = {**_IDENTITY, "GIT_INDEX_FILE": f"{folder}/index"}
            self._change(more, "read-tree", HEAD if born else "--empty")
            self._change(more, "update-index", "-z", "--index-info", given=entries)
            self._change(more, "commit", f"--author={author} <{mail}>", f"--message={message}")
        change(self._folder, ("reset", "--quiet", "--", *chosen), {})
        return self._ask("rev-parse", HEAD).text.strip()

    def _entry(self, name: str, mark: str) -> bytes:
        """Return the line of an index for a file with this mark. Raises GitRefusedError where it has another one."""
        path, mode, blob = self._folder / name, 0, _REMOVED
        if mark != _GONE:
            try:
                mode, data = _mode(path), os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            except OSError:
                raise GitRefusedError("changed") from None
            filters = "--no-filters" if mode == stat.S_IFLNK else f"--path={name}"
            blob = self._ask("hash-object", "-w", "--stdin", filters, given=data).text.strip()
        if _mark(path) != mark or not blob:
            raise GitRefusedError("changed")
        return f"{mode:o} {blob}\t{self.prefix()}{name}\0".encode(errors="surrogateescape")

    def _change(self, more: Mapping[str, str], *words: str, given: bytes = b"") -> None:
        answer = change(self._folder, words, more, given)
        if answer.status is None:
            raise GitRefusedError("slow")
        if answer.status:
            raise GitRefusedError("refused", (answer.errors or answer.text).strip())

    def _unfinished(self) -> bool:
        places = [self._ask("rev-parse", "--git-path", name).text.rstrip("\n") for name in _UNFINISHED]
        return any((self._folder / place).exists() for place in places)

    def _ask(self, *words: str, given: bytes = b"") -> GitAnswer:
        return ask(self._folder, *words, given=given)


def _mode(path: Path) -> int:
    """Return the mode that git gives a file. Raises OSError."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return stat.S_IFLNK
    return stat.S_IFREG | (0o755 if mode & stat.S_IXUSR else 0o644)


def _mark(path: Path) -> str:
    try:
        about = path.lstat()
    except OSError:
        return _GONE
    return f"{about.st_ino}-{about.st_size}-{about.st_mtime_ns}-{about.st_ctime_ns}"


# Git, asked with fixed words: no shell, no pager, no prompt, no push, and an end to every wait.


_READING, _COMMITTING = 20.0, 120.0
"""Seconds: hooks of a repository may check a commit for a while."""
_KEPT = 4_000
_SETTINGS = ("core.quotePath=false", "core.editor=false", NO_BARE_REPOSITORY)
_FIXED = ("--no-pager", "--literal-pathspecs", *(word for each in _SETTINGS for word in ("-c", each)))


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What git said; ``status`` is 0 where it did what it was asked, None where it took too long."""

    status: int | None
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        """The output as text."""
        return self.output.decode(errors="replace")


def ask(folder: Path, *words: str, given: bytes = b"") -> GitAnswer:
    """Return what git says of a folder; nothing is changed."""
    return _run(folder, words, given, {"GIT_OPTIONAL_LOCKS": "0"}, _READING)


def change(folder: Path, words: Sequence[str], more: Mapping[str, str], given: bytes = b"") -> GitAnswer:
    """Have git change an index or write a commit, with the hooks of the repository and ``more`` variables."""
    return _run(folder, words, given, more, _COMMITTING)


def _run(folder: Path, words: Sequence[str], given: bytes, more: Mapping[str, str], seconds: float) -> GitAnswer:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", **more}
    try:
        process = subprocess.Popen(  # noqa: S603  # git of the server's PATH, no shell
            ["git", "-C", str(folder), *_FIXED, *words],  # noqa: S607  # the same
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError:
        return GitAnswer(127, b"", "")
    with process:
        try:
            output, errors = process.communicate(given, seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return GitAnswer(None, b"", "")
    return GitAnswer(process.returncode, output, errors.decode(errors="replace")[-_KEPT:])


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what its hooks began; git takes its locks away where it has a moment for it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.communicate(timeout=5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
