"""Where ``extends:`` finds a template: a file beside the policy, a built-in, or an installed package."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from ppdm_flow.core.suggest import closest

GROUP = "ppdm_flow.templates"
"""Entry points: the name is the template's, the value a package that holds ``<name>.yaml``."""

_BUILT_IN = "builtin:"
_PACKAGED = "pkg:"
_PKG = re.compile(
    r"pkg:(?P<dist>[A-Za-z0-9][A-Za-z0-9._-]*)/(?P<name>[A-Za-z0-9][A-Za-z0-9_-]*)(?:@(?P<version>.+))?\Z"
)
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class NotFoundError(Exception):
    """A reference leads nowhere; ``code``, ``hint`` and ``help`` are for its diagnostic."""

    def __init__(self, code: str, message: str, hint: str | None = None, help_: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.help = help_


@dataclass(frozen=True, slots=True)
class Found:
    """A template's file, the name that diagnostics give it, and what tells it from every other file."""

    path: Path
    shown: str
    identity: str


def find(reference: str, home: str) -> Found:
    """Return the file that ``reference`` means in a policy file in the folder ``home``.

    Raises
    ------
    NotFoundError
        PPF301 for a file, PPF303 for a built-in or a package, PPF312 for a reference of no such form.
    """
    if reference.startswith(_BUILT_IN):
        return _built_in(reference.removeprefix(_BUILT_IN))
    if reference.startswith(_PACKAGED):
        return _packaged(reference)
    if _REMOTE.match(reference):
        raise NotFoundError(
            "PPF312",
            f"`{reference}` is on the network, and templates never are",
            help_="keep it as a file beside the policy, or install it as a package and write `pkg:distribution/name`",
        )
    return _file(reference, home)


def _file(reference: str, home: str) -> Found:
    path = Path(os.path.normpath(Path(home) / reference))
    if not path.is_file():
        folder = path.parent
        there = sorted(p.name for p in folder.glob("*.y*ml")) if folder.is_dir() else []
        near = closest(path.name, there)
        where = f"{folder} holds {', '.join(f'`{n}`' for n in there[:12])}" if there else None
        raise NotFoundError(
            "PPF301", f"there is no template file {path}", f"did you mean `{near}`?" if near else None, where
        )
    return Found(path, str(path), str(path.resolve()))


def built_ins() -> dict[str, Path]:
    """Return the templates that come with ppdm_flow, by name."""
    folder = Path(str(resources.files("ppdm_flow") / "templates"))
    return {p.stem: p for p in sorted(folder.glob("*.yaml"))} if folder.is_dir() else {}


def _built_in(name: str) -> Found:
    known = built_ins()
    if name not in known:
        raise NotFoundError("PPF303", f"there is no built-in template `{name}`", *_among(name, list(known), "built-in"))
    return Found(known[name], f"{_BUILT_IN}{name}", f"{_BUILT_IN}{name}")


def _packaged(reference: str) -> Found:
    parts = _PKG.match(reference)
    if parts is None:
        raise NotFoundError(
            "PPF312",
            f"`{reference}` names no template of a package",
            "write `pkg:distribution/name`, or `pkg:distribution/name@version`",
        )
    entry = _entry(parts["dist"], parts["name"])
    version = entry.dist.version if entry.dist else ""
    wanted = parts["version"]
    if wanted and version != wanted and not version.startswith(f"{wanted}."):
        raise NotFoundError("PPF303", f"`{parts['dist']}` is installed in version {version}, not {wanted}")
    path = _resource(entry)
    if path is None:
        raise NotFoundError("PPF303", f"`{parts['dist']}` lists the template `{parts['name']}` but does not hold it")
    return Found(path, f"{_PACKAGED}{parts['dist']}/{parts['name']}", str(path.resolve()))


def _entry(distribution: str, name: str) -> EntryPoint:
    every = [(_normal(e.dist.name), e) for e in entry_points(group=GROUP) if e.dist is not None]
    mine = [e for dist, e in every if dist == _normal(distribution)]
    for entry in mine:
        if entry.name == name:
            return entry
    if mine:
        names = sorted(e.name for e in mine)
        raise NotFoundError(
            "PPF303",
            f"the package `{distribution}` has no template `{name}`",
            *_among(name, names, f"`{distribution}`"),
        )
    packages = sorted({e.dist.name for _, e in every if e.dist is not None})
    raise NotFoundError(
        "PPF303",
        f"no installed package `{distribution}` offers templates",
        *_among(distribution, packages, "installed package"),
    )


def _resource(entry: EntryPoint) -> Path | None:
    """The file within the package that the entry names; the package is not imported unless it is a nested one."""
    spec = find_spec(entry.value.partition(":")[0])
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / f"{entry.name}.yaml"
        if path.is_file():
            return path
    return None


def _among(name: str, known: list[str], what: str) -> tuple[str | None, str]:
    near = closest(name, known)
    there = ", ".join(f"`{n}`" for n in known) if known else "none"
    return (f"did you mean `{near}`?" if near else None), f"{what} templates: {there}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
