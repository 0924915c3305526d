"""Finding plugins by entry point: listed from metadata without import, loaded only when named.

A kind of requirement brings the audit that measures it: it is listed among the audits, by the name of the kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from typing import Any, TypeVar

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.pages import MalformedPageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.sdk.spec import PluginSpec

GROUPS = ("anonymizers", "audits", "sources", "sinks")
_BROUGHT = {"audits": ("requirements", "audit")}
"""Groups of which plugins of another group bring one each, and what attribute of theirs it is."""
OWN = "ppdm_flow"
LIGHT = "ppdm_flow_light"
"""The distribution of the same code without the libraries that read data: what it brings comes with ``OWN``."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListedPlugin:
    """A plugin as metadata shows it: nothing of it has been imported.

    ``part`` is the attribute that it is of what the entry point names; empty where it is the whole of that.
    """

    group: str
    name: str
    distribution: str
    version: str
    entry: EntryPoint
    part: str = ""

    @property
    def built_in(self) -> bool:
        """Whether it comes with ppdm_flow itself."""
        return self.distribution.replace("-", "_") == OWN


@cache
def listed(group: str) -> tuple[ListedPlugin, ...]:
    """Return all plugins of a group (``anonymizers``, ``audits``, ``sources``, ``sinks``), sorted by name."""
    homes = [(group, "")] + ([_BROUGHT[group]] if group in _BROUGHT else [])
    entries = []
    for home, part in homes:
        for entry in _every().select(group=f"ppdm_flow.{home}"):
            name, version = _origin(entry.dist) if entry.dist else ("?", "?")
            entries.append(ListedPlugin(group, entry.name, name, version, entry, part))
    return tuple(sorted(set(entries), key=lambda p: (p.name, p.distribution)))


@cache
def _every() -> Any:
    """Read the entry points of all distributions once, for all groups; the type differs between Pythons."""
    return entry_points()


@cache
def _origin(distribution: Distribution) -> tuple[str, str]:
    """Return name and version; each access to them would parse the distribution's metadata again."""
    metadata = distribution.metadata
    name: str = metadata["Name"]
    return OWN if name.replace("-", "_") == LIGHT else name, metadata["Version"]


def only_built_in() -> bool:
    """Whether no other distribution has a plugin."""
    return all(p.built_in for group in (*GROUPS, "requirements") for p in listed(group))


def find(group: str, name: str) -> ListedPlugin:
    """Return the one plugin of that name. Raises PluginError where there is none, or more than one."""
    every = listed(group)
    same = [p for p in every if p.name == name]
    if not same:
        raise PluginError(_unknown(group, name, {p.name for p in every}))
    if len(same) > 1:
        places = " and ".join(f"{p.distribution} {p.version}" for p in same)
        shadows = any(p.built_in for p in same)
        raise PluginError(
            Diagnostic(
                "PPF402",
                f"{'a plugin shadows the built-in' if shadows else 'two plugins have the name'} `{name}`: {places}",
                help="uninstall one of them, or ask its author for another name",
            )
        )
    return same[0]


def load(group: str, name: str) -> PluginSpec:
    """Import the light half of the one plugin of that name. Raises PluginError where that fails."""
    return load_listed(find(group, name))


def load_listed(plugin: ListedPlugin) -> PluginSpec:
    """Import the light half of a plugin, whether or not another has its name. Raises PluginError where that fails."""
    spec = _loaded(plugin)
    if not isinstance(spec, PluginSpec) or spec.info.name != plugin.name:
        raise _misnamed(plugin)
    return spec


def load_listed_entry(plugin: ListedPlugin, of: type[T]) -> T:
    """Import what an entry point names, whether or not another has its name. Raises PluginError where that fails."""
    spec = _loaded(plugin)
    if not isinstance(spec, of) or getattr(spec, "name", None) != plugin.name:
        raise _misnamed(plugin)
    return spec


def _loaded(plugin: ListedPlugin) -> Any:
    try:
        named = _imported(plugin.entry)
    except Exception as error:  # an exception of a third party's module must not look like our own fault
        raise PluginError(
            Diagnostic(
                "PPF403",
                f"the plugin `{plugin.name}` of {plugin.distribution} {plugin.version} cannot be imported:"
                f" {import_fault(error)}",
            )
        ) from error
    return getattr(named, plugin.part, None) if plugin.part else named


def import_fault(error: BaseException) -> str:
    """Return the kind of an error, and the module or file that it names; its text is not quoted, but for our own."""
    if isinstance(error, MalformedPageError):
        return str(error)
    named = getattr(error, "name", None) or getattr(error, "filename", None)
    return f"{type(error).__name__}: {named}" if isinstance(named, str) else type(error).__name__


def unfit(plugin: ListedPlugin, why: str) -> PluginError:
    """Return the error for a plugin that lacks what its group needs (PPF404)."""
    text = f"the plugin `{plugin.name}` of {plugin.distribution} does not fit: {why}"
    return PluginError(Diagnostic("PPF404", text))


def _misnamed(plugin: ListedPlugin) -> PluginError:
    text = f"the entry point `{plugin.name}` of {plugin.distribution} is not a plugin of that name"
    return PluginError(Diagnostic("PPF404", text))


@cache
def _imported(entry: EntryPoint) -> Any:
    """Import what an entry point names, once; a failure is not remembered."""
    return entry.load()


def _unknown(group: str, name: str, known: Iterable[str]) -> Diagnostic:
    kind = group[:-1]
    article = "an" if kind[0] in "aeiou" else "a"
    return Diagnostic(
        "PPF401",
        f"there is no {kind} `{name}`",
        hint=did_you_mean(name, known),
        help=f"`ppdm-flow list {group}` shows what is installed; {article} {kind} can also come from a package",
    )
