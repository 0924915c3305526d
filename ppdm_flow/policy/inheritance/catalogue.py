"""The templates that can be extended by name: those that come with ppdm_flow, and those of installed packages."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from ppdm_flow.core.version import VERSION
from ppdm_flow.policy.inheritance.references import GROUP, built_ins


@dataclass(frozen=True, slots=True)
class ListedTemplate:
    """A template by the name that ``extends:`` takes, and the distribution that it comes with."""

    reference: str
    distribution: str
    version: str


def listed() -> tuple[ListedTemplate, ...]:
    """Return the templates of ppdm_flow, then those of installed packages, by name."""
    packaged = {_packaged(e) for e in entry_points(group=GROUP) if e.dist is not None}
    inside = tuple(ListedTemplate(f"builtin:{name}", "ppdm_flow", VERSION) for name in built_ins())
    return (*inside, *sorted(packaged, key=lambda each: each.reference))


def _packaged(entry: EntryPoint) -> ListedTemplate:
    distribution = entry.dist
    if distribution is None:
        raise TypeError("only entry points of distributions are listed")
    return ListedTemplate(f"pkg:{distribution.name}/{entry.name}", distribution.name, distribution.version)
