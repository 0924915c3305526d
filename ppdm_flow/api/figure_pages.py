"""Pages of the figures that installed plugins measure, from what their cards say of them."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk import registry

_GROUPS = ("anonymizers", "audits")


def figure_pages(name: str) -> list[str]:
    """Return the page of every figure of this name as Markdown: one for each plugin that measures such a figure."""
    return [_page(name, info, info.figures[name]) for info in _cards() if name in info.figures]


def figure_names() -> dict[str, str]:
    """Return what each figure of the installed plugins says, sorted by name; of several plugins the first."""
    found: dict[str, str] = {}
    for info in _cards():
        for name, figure in info.figures.items():
            found.setdefault(name, figure.what)
    return dict(sorted(found.items()))


def _cards() -> Iterator[PluginInfo]:
    for group in _GROUPS:
        for plugin in registry.listed(group):
            try:
                yield registry.load(group, plugin.name).info
            except PluginError:  # a broken plugin must not hide the pages of the others; `doctor` names it
                continue


def _page(name: str, info: PluginInfo, figure: FigureInfo) -> str:
    kind = "audit" if info.kind is Kind.AUDIT else "anonymizer"
    parts = [f"# {name}: a figure of the {kind} `{info.name}`", f"{figure.what[:1].upper()}{figure.what[1:]}."]
    if figure.formula:
        parts.append(f"## Formula\n\n{figure.formula}")
    facts = {"better": figure.better, "reference": figure.reference or info.reference}
    lines = [f"- {fact}: {text}" for fact, text in facts.items() if text]
    return "\n\n".join([*parts, "\n".join([*lines, _gate(name, info, figure)])])


def _gate(name: str, info: PluginInfo, figure: FigureInfo) -> str:
    """Say how a policy bounds the figure: by its requirement, or by a gate."""
    if info.serves and info.kind is Kind.AUDIT:
        kinds = ", ".join(f"`ppdm-flow explain {each}`" for each in info.serves)
        return f"- measured for a requirement: {kinds}"
    side = "min" if figure.better == "higher" else "max"
    owner = "an audit's name" if info.kind is Kind.AUDIT else "a step's name"
    return f"- to bound it: `gates: {{bounded: {{metric: NAME.{name}, {side}: …}}}}`, NAME being {owner} in the policy"
