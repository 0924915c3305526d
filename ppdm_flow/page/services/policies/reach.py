"""Whether a policy names a file of the server's private folder, or of Git's own: such files are no data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/{0,3}")
_TOKEN = re.compile(r"[^\s'\"(),;=]+")
_GIT = ".git"
_MAGIC = re.compile(r"[*?\[]")


def reaches(tree: object, home: Path, private: Path) -> bool:
    """Return whether some text of a resolved policy in the folder ``home`` leads into the ``private`` folder.

    What Git keeps of a repository is as private: the address of its origin may hold a token.
    Any text is taken for a path, for plugins have paths in parameters of any name: one that is none leads nowhere.
    """
    real = os.path.realpath(private)
    return any(_leads(each, str(home), real) for text in texts(tree) for each in _paths(text))


def texts(node: object) -> Iterator[str]:
    """Yield all texts of a tree, names of keys too."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield str(key)
            yield from texts(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from texts(value)
    elif isinstance(node, str):
        yield node


def _paths(text: str) -> Iterator[str]:
    """Yield what may be a path in a text: all of it, and the words of a query or of an address.

    The private folder lies in none of a policy's, so that every way to it has a slash, or is a link by its name.
    """
    for spelled in {text, unquote(text)}:
        if "/" not in spelled:
            yield spelled
            continue
        words = {spelled, *_TOKEN.findall(spelled)}
        for word in words:
            bare = _SCHEME.sub("", word, count=1)
            yield from {word, bare, f"/{bare}"} if bare != word else {word}


def _leads(path: str, home: str, private: str) -> bool:
    parts = path.split("/")
    if len(parts) == 1 and path != _GIT and not os.path.islink(os.path.join(home, path)):  # noqa: PTH114, PTH118  # as below
        return False
    fixed = next((place for place, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    start = "/".join(parts[:fixed]) or ("/" if path.startswith("/") else ".")
    try:
        place = os.path.realpath(os.path.join(home, start))  # noqa: PTH118  # a text that may be no path at all
    except (OSError, ValueError):
        return False
    pattern = parts[fixed:]
    if _is_below(place, private) or _GIT in place.split("/"):
        return True
    if any(part.startswith(".") and fnmatchcase(_GIT, part) for part in pattern):  # no other pattern has hidden names
        return True
    return bool(pattern) and _is_below(private, place) and _may_reach(pattern, os.path.relpath(private, place))


def _may_reach(pattern: list[str], way: str) -> bool:
    """Whether a pattern can go as deep as files of the private folder are."""
    return any("**" in part for part in pattern) or ".." in pattern or len(pattern) > len(Path(way).parts)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
