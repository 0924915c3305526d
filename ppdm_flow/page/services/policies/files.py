"""The files of the folder of policies that people see: by name, which is never joined to a path without a look."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ppdm_flow.api.loading.kinds import FileKind

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
    found = _POLICY.search(data)
    if found is None:
        return text
    return (data[: found.start(2)] + policy_name(file).encode() + data[found.end(2) :]).decode()


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
