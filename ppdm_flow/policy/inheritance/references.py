"""Finds the template of ``extends:``: a file beside the policy, a built-in, or an installed package."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.version import VERSION
from ppdm_flow.policy.language.words import short

GROUP = "ppdm_flow.templates"
"""Entry points: the name is the template's, the value a package that holds ``<name>.yaml``."""

_BUILT_IN = "builtin:"
_PACKAGED = "pkg:"
_PKG = re.compile(
    r"pkg:(?P<dist>[A-Za-z0-9][A-Za-z0-9._-]*)/(?P<name>[A-Za-z0-9][A-Za-z0-9_-]*)(?:\s*@(?P<version>.*))?\Z"
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
class FoundTemplate:
    """A template's file, the name that diagnostics give it, and what tells it from every other file."""

    path: Path
    shown: str
    identity: str


def find(reference: str, home: str) -> FoundTemplate:
    """Return the file that ``reference`` means in a policy file in the folder ``home``.

    Raises
    ------
    NotFoundError
        PPF301 where there is no such template, PPF312 for a reference of no such form, PPF316 and PPF317 for a range
        of versions.
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


def package(reference: str) -> str:
    """Return the distribution that a reference to a range of its versions names; empty for any other."""
    parts = _PKG.match(reference)
    return _normal(parts["dist"]) if parts and parts["version"] else ""


def origin(shown: str) -> tuple[str, str]:
    """Return distribution and version that bring a template, from the name that diagnostics give it; empty for files.

    Raises NotFoundError (PPF301) where it is installed no more.
    """
    if shown.startswith(_BUILT_IN):
        return "ppdm_flow", VERSION
    parts = _PKG.match(shown)
    return _entry(parts["dist"], parts["name"])[:2] if parts else ("", "")


def _file(reference: str, home: str) -> FoundTemplate:
    path = Path(os.path.normpath(Path(home) / reference))
    if not path.is_file():
        folder = path.parent
        there = sorted(p.name for p in folder.glob("*.y*ml")) if folder.is_dir() else []
        where = f"{folder} holds {', '.join(f'`{n}`' for n in there[:12])}" if there else None
        raise NotFoundError("PPF301", f"there is no template file {path}", did_you_mean(path.name, there), where)
    return FoundTemplate(path, str(path), str(path.resolve()))


def built_ins() -> dict[str, Path]:
    """Return the templates that come with ppdm_flow, by name."""
    folder = Path(str(resources.files("ppdm_flow") / "templates"))
    return {p.stem: p for p in sorted(folder.glob("*.yaml"))} if folder.is_dir() else {}


def _built_in(name: str) -> FoundTemplate:
    known = built_ins()
    if name not in known:
        raise NotFoundError("PPF301", f"there is no built-in template `{name}`", *_among(name, list(known), "built-in"))
    return FoundTemplate(known[name], f"{_BUILT_IN}{name}", f"{_BUILT_IN}{name}")


def _packaged(reference: str) -> FoundTemplate:
    parts = _PKG.match(reference)
    if parts is None:
        raise NotFoundError(
            "PPF312",
            f"`{reference}` names no template of a package",
            "write `pkg:distribution/name`, or `pkg:distribution/name@>=1.2,<2`",
        )
    wanted = parts["version"]
    if wanted is not None and not _readable(wanted):
        raise NotFoundError(
            "PPF316", f"`{short(wanted)}` is not a valid version range", "write `@>=1.2,<2`, `@~=1.4` or `@1.4`"
        )
    _, version, entry = _entry(parts["dist"], parts["name"])
    if wanted is not None and not _holds(version, wanted):
        raise NotFoundError(
            "PPF317",
            f"`{parts['dist']}` is installed in version {version}, and `{short(wanted)}` is wanted",
            help_="install a version that fits, or have somebody look at what changed and then widen the range",
        )
    path = _resource(entry)
    if path is None:
        raise NotFoundError("PPF301", f"`{parts['dist']}` lists the template `{parts['name']}` but does not hold it")
    return FoundTemplate(path, f"{_PACKAGED}{parts['dist']}/{parts['name']}", str(path.resolve()))


def _readable(wanted: str) -> bool:
    from ppdm_flow.policy.text import versions  # noqa: PLC0415  # few policies name versions

    return versions.readable(wanted)


def _holds(version: str, wanted: str) -> bool:
    from ppdm_flow.policy.text import versions  # noqa: PLC0415  # few policies name versions

    return versions.holds(version, wanted)


@cache
def _installed(path: tuple[str, ...]) -> tuple[tuple[str, str, EntryPoint], ...]:
    """Return distribution, version and entry point of all templates on a search path, read once."""
    del path
    entries = []
    for entry in entry_points(group=GROUP):
        if entry.dist is not None:
            metadata = entry.dist.metadata
            entries.append((metadata["Name"], metadata["Version"], entry))
    return tuple(entries)


def _entry(distribution: str, name: str) -> tuple[str, str, EntryPoint]:
    every = _installed(tuple(sys.path))
    mine = [each for each in every if _normal(each[0]) == _normal(distribution)]
    for each in mine:
        if each[2].name == name:
            return each
    if mine:
        names = sorted(e.name for _, _, e in mine)
        raise NotFoundError(
            "PPF301",
            f"the package `{distribution}` has no template `{name}`",
            *_among(name, names, f"`{distribution}`"),
        )
    packages = sorted({dist for dist, _, _ in every})
    raise NotFoundError(
        "PPF301",
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
    there = ", ".join(f"`{n}`" for n in known) if known else "none"
    return (did_you_mean(name, known)), f"{what} templates: {there}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# The templates that can be extended by name: those that come with ppdm_flow, and those of installed packages.


@dataclass(frozen=True, slots=True)
class ListedTemplate:
    """A template by the name that ``extends:`` takes, and the distribution that it comes with."""

    reference: str
    distribution: str
    version: str


def listed() -> tuple[ListedTemplate, ...]:
    """Return the templates of ppdm_flow, then those of installed packages, by name."""
    packaged = {_catalogue_packaged(e) for e in entry_points(group=GROUP) if e.dist is not None}
    inside = tuple(ListedTemplate(f"builtin:{name}", "ppdm_flow", VERSION) for name in built_ins())
    return (*inside, *sorted(packaged, key=lambda each: each.reference))


def _catalogue_packaged(entry: EntryPoint) -> ListedTemplate:
    distribution = entry.dist
    if distribution is None:
        raise TypeError("only entry points of distributions are listed")
    return ListedTemplate(f"pkg:{distribution.name}/{entry.name}", distribution.name, distribution.version)
