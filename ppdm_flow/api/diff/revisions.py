"""Policies as they were: the YAML files of a git revision, in a folder that is gone afterwards."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import open_ordinary
from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy.files import Library

NO_BARE_REPOSITORY = "safe.bareRepository=explicit"
"""Has Git (2.38 and later) take no committed folder for a repository: its `config` may name programs that Git runs."""
_ENDINGS = (b".yaml", b".yml")
_LINK, _MODULE = b"120000", b"160000"


@dataclass(frozen=True, slots=True)
class PolicyPlace:
    """A policy or a folder of policies. ``folder`` is where a revision's files were put, ``revision`` its name.

    Both are empty for what stands in the working tree. ``texts`` are read in the place of what the files of these paths
    say: nobody has written them yet. ``base`` is a folder whose files are known by their path in it.
    """

    word: str
    path: Path
    folder: str = ""
    revision: str = ""
    root: Path | None = None
    texts: Mapping[Path, str] = field(default_factory=dict)
    base: str = ""

    def shown(self, file: str) -> str:
        """Return the name of a file as people know it: ``main:policies/credit.yaml``."""
        if self.base and file.startswith(self.base + os.sep):
            return file[len(self.base) + 1 :].replace(os.sep, "/")
        if not self.folder or not file.startswith(self.folder + os.sep):
            return file
        return f"{self.revision}:{file[len(self.folder) + 1 :].replace(os.sep, '/')}"

    def library(self) -> Library:
        """Return what the policy is read with."""
        return Library(texts=self.texts)

    def content(self, path: Path) -> bytes | None:
        """Return the bytes of a file that the policy names; None where there is none."""
        if "\0" in str(path):
            return None
        try:
            if not self.folder or self.root is None:
                with open_ordinary(path) as file:
                    return file.read()
        except OSError:
            return None
        inner = PurePosixPath(os.path.normpath(path.absolute()).removeprefix(self.folder + os.sep))
        return _git(self.root, ["cat-file", "blob", f"{self.revision}:{inner}"])


@contextmanager
def place(word: str, here: Path = Path()) -> Iterator[PolicyPlace]:
    """Return where a policy is; of ``REVISION:PATH`` a copy that lasts as long as the block.

    The repository is the one that ``here`` is in. What exists under the whole word is meant before a revision is looked
    for. Raises UsageError.
    """
    revision, colon, inside = word.partition(":")
    if Path(word).exists() or not colon or not revision:
        yield PolicyPlace(word, Path(word))
        return
    root = _root(word, here)
    inner = _inner(inside, root)
    with tempfile.TemporaryDirectory(prefix="ppdm-flow-") as folder:
        home = os.path.realpath(folder)
        _put(root, revision, Path(home), word)
        path = Path(home) / inner
        if not path.exists():
            raise UsageError(Diagnostic("PPF640", f"`{revision}` has no YAML file or folder of them at `{inner}`"))
        yield PolicyPlace(word, path, home, revision, root)


def _root(word: str, here: Path) -> Path:
    """Return the repository that a folder is in."""
    output = _git(here, ["rev-parse", "--show-toplevel"])
    if output is None:
        help_ = "a word with a colon is a git revision and a path: `main:policies/credit.yaml`"
        raise UsageError(Diagnostic("PPF640", f"no file `{word}`, and no git repository to look in", help=help_))
    return Path(os.fsdecode(output).strip("\n"))


def _inner(inside: str, root: Path) -> str:
    """Return a path below the repository's root; `./` and `../` begin at the current folder, as in git."""
    if inside.startswith(("./", "../")) or inside in (".", ".."):
        inside = os.path.relpath(Path(inside).resolve(), root.resolve())
    normal = os.path.normpath(inside or ".")
    if normal.startswith("..") or os.path.isabs(normal):  # noqa: PTH117  # a path of git, not of the file system
        raise UsageError(Diagnostic("PPF640", f"`{inside}` is outside of the repository"))
    return normal


def _put(root: Path, revision: str, home: Path, word: str) -> None:
    """Write every YAML file of a revision below ``home``: templates may stand anywhere."""
    if revision.startswith("-") or _git(root, ["rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}"]) is None:
        help_ = "`git fetch` brings revisions that CI has not checked out"
        raise UsageError(Diagnostic("PPF640", f"there is no revision `{revision}` for `{word}`", help=help_))
    listed = _git(root, ["ls-tree", "-r", "-z", "--full-tree", revision], needed=True) or b""
    names = []
    for entry in listed.split(b"\0"):
        about, _, name = entry.partition(b"\t")
        mode, _, rest = about.partition(b" ")
        if name.endswith(_ENDINGS) and mode not in (_LINK, _MODULE):
            names.append((os.fsdecode(name), rest.split(b" ")[-1]))
    for inner, content in _blobs(root, names):
        path = home / inner
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _blobs(root: Path, names: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the content of each file, from one call of git."""
    given = b"".join(blob + b"\n" for _, blob in names)
    out = _git(root, ["cat-file", "--batch"], given, needed=True) or b""
    at = 0
    for name, _ in names:
        end = out.index(b"\n", at)
        size = int(out[at:end].split(b" ")[-1])
        yield name, out[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def _git(root: Path, words: Sequence[str], given: bytes = b"", *, needed: bool = False) -> bytes | None:
    """Return what git says; None where it refuses. Raises UsageError where there is no git."""
    command = ["git", "-C", str(root), "-c", NO_BARE_REPOSITORY, *words]
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False)  # noqa: S603  # git of the user's PATH, no shell
    except FileNotFoundError:
        help_ = "install git, or give two files"
        raise UsageError(
            Diagnostic("PPF641", "git is needed to look at a revision, and is not there", help=help_)
        ) from None
    if done.returncode and needed:
        raise UsageError(Diagnostic("PPF640", f"`git {words[0]}` cannot read the revision"))
    return None if done.returncode else done.stdout
