"""Pages of the figures that installed plugins measure, from what their cards say of them."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.api.explain.served import kinds_served
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk import registry

GROUPS = ("anonymizers", "audits")
"""The plugins that measure something."""


def figure_pages(metric: str) -> list[str]:
    """Return the pages of a figure as Markdown, one for each plugin that measures it.

    ``metric`` is its name, or the whole name of one in a report: of ``found.frequent.2`` it is ``frequent`` that has a
    page. Where it names the plugin or the requirement (``privacy.KIND.FIGURE``), there is only that page.
    """
    matches = [(info, name) for info in cards() if (name := info.figure_of(metric)) is not None]
    parts = metric.split(".")
    own = [(info, name) for info, name in matches if {info.name, *kinds_served(info)} & set(parts)]
    last = max((parts.index(name) for _, name in matches), default=0)
    return [_page(name, info, info.figures[name]) for info, name in own or matches if own or name == parts[last]]


def is_owned(metric: str) -> bool:
    """Return whether a metric's name tells whose figure it is."""
    parts = set(metric.split("."))
    return any(info.figure_of(metric) and {info.name, *kinds_served(info)} & parts for info in cards())


def figure_names() -> dict[str, str]:
    """Return what each figure of the installed plugins says, sorted by name; of several plugins the first."""
    found: dict[str, str] = {}
    for info in cards():
        for name, figure in info.figures.items():
            found.setdefault(name, figure.what)
    return dict(sorted(found.items()))


def figure_topics() -> list[str]:
    """Return the names of all figures as Markdown: a section for each kind of plugin, a line for each plugin."""
    return [
        f"## Figures of {group}\n\n" + "\n".join(_line(info) for info in cards(group) if info.figures)
        for group in GROUPS
    ]


def cards(*groups: str) -> Iterator[PluginInfo]:
    """Yield the cards of the plugins that can be loaded; of all that measure something, or of these groups."""
    for group in groups or GROUPS:
        for plugin in registry.listed(group):
            try:
                yield registry.load(group, plugin.name).info
            except PluginError:  # a broken plugin must not hide the pages of the others; `doctor` names it
                continue


def _line(info: PluginInfo) -> str:
    return f"- `{info.name}`: " + ", ".join(f"`{name}`" for name in info.figures)


def _page(name: str, info: PluginInfo, figure: FigureInfo) -> str:
    kind = "audit" if info.kind is Kind.AUDIT else "anonymizer"
    parts = [f"# {name}: a figure of the {kind} `{info.name}`", f"{figure.what[:1].upper()}{figure.what[1:]}."]
    if figure.formula:
        parts.append(f"## Formula\n\n{figure.formula}")
    better = figure.better or "neither: it describes, or is there to compare with"
    facts = {"better": better, "reference": figure.reference or info.reference}
    lines = [f"- {fact}: {text}" for fact, text in facts.items() if text]
    lines += ["- in public reports, too: the release itself tells it"] if figure.audience == "public" else []
    return "\n\n".join([*parts, "\n".join([*lines, _gate(name, info, figure)])])


def _gate(name: str, info: PluginInfo, figure: FigureInfo) -> str:
    """Say how a policy bounds the figure: by its requirement, or by a gate."""
    if info.serves and info.kind is Kind.AUDIT:
        kinds = ", ".join(f"`ppdm-flow explain {each}`" for each in info.serves)
        return f"- measured for a requirement: {kinds}"
    side = "min" if figure.better == "higher" else "max"
    owner = "an audit's name" if info.kind is Kind.AUDIT else "a step's name"
    return f"- to bound it: `gates: {{bounded: {{metric: NAME.{name}, {side}: …}}}}`, NAME being {owner} in the policy"
