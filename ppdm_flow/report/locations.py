"""Where files stand in a repository: CI systems draw findings by paths from its root."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from posixpath import normpath
from urllib.parse import quote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: `C:` is a drive


@dataclass(frozen=True, slots=True)
class Locations:
    """``root`` is the repository's folder, ``folder`` the one that relative paths start from; both absolute."""

    root: PurePath
    folder: PurePath

    def relative(self, file: str) -> str | None:
        """Return the path from the root, with ``/``; None for what is not below it (``builtin:`` templates, say)."""
        if _SCHEME.match(file):
            return None
        path = PurePosixPath(normpath(PurePath(self.folder, file).as_posix()))
        root = PurePosixPath(self.root.as_posix())
        return str(path.relative_to(root)) if path.is_relative_to(root) else None

    def shown(self, file: str) -> str:
        """Return the path from the root, or of a file elsewhere its name: whose folder it is in is nobody's."""
        relative = self.relative(file)
        if relative is not None or _SCHEME.match(file):
            return relative or file
        return PurePath(file).name

    def uri(self, file: str) -> str:
        """Return ``shown`` as a URI reference (RFC 3986)."""
        text = self.shown(file)
        # a colon in the first segment would read as a scheme
        return quote(text, safe="/:") if _SCHEME.match(file) else quote(text, safe="/")


def locations(folder: Path | None = None) -> Locations:
    """Return where paths start: from ``folder`` (the current one), and from the nearest folder with `.git` above it."""
    here = (folder or Path.cwd()).absolute()
    root = next((place for place in (here, *here.parents) if (place / ".git").exists()), here)
    return Locations(root, here)
