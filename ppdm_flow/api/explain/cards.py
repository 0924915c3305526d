"""The pages of plugins, their parameters and the kinds that they serve; and those of their figures."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.policy.language.kinds import kinds_of, third_parties
from ppdm_flow.policy.language.shape import FixedKeys, Key, ListOf, MapOf, Shape, Text, shape_of
from ppdm_flow.policy.language.words import expected
from ppdm_flow.sdk import registry

_ARTICLES = {"anonymizers": "anonymizer", "audits": "audit", "sources": "source", "sinks": "sink"}


def plugin_page(group: str, name: str) -> str:
    """Return the page of an installed plugin as Markdown."""
    plugin = registry.find(group, name)
    head = f"# {name}: {_ARTICLES[group]} of {plugin.distribution} {plugin.version}"
    try:
        spec = registry.load(group, name)
    except PluginError as error:
        return f"{head}\n\nIt cannot be loaded: {error.diagnostics[0].message}."
    example = [f"## Example\n\n```yaml\n{spec.info.example}\n```"] if spec.info.example else []
    return "\n\n".join(
        [head, *_card(spec.info), parameters(spec.params, spec.info.parameters), *_figures(spec.info), *example]
    )


def parameters(model: type[BaseModel], about: str = "") -> str:
    """Return what a plugin's ``with:`` may hold; without words ``about`` it, those of the model's docstring."""
    keys = shape_of(model)
    if not keys.keys:
        return "\n\n".join(part for part in ("## Parameters", "It takes none.", about) if part)
    return "\n\n".join(part for part in ("## Parameters", about or _about(model), "\n".join(_lines(keys, ""))) if part)


def _card(info: PluginInfo) -> list[str]:
    facts = {
        "kind": info.kind.value.replace("_", "-"),
        "serves": ", ".join(f"`privacy.{kind}`" for kind in kinds_served(info)),
        "draws at random": "yes" if info.randomized else "no",
        "on Spark": line_of(info),
        "cost": info.cost,
        "reference": info.reference,
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    claims = [f"- it claims: {claim}" for claim in info.guarantees]
    return [info.summary, "\n".join([*lines, *claims])]


def _figures(info: PluginInfo) -> list[str]:
    lines = [f"- `{name}`: {figure.what}" for name, figure in info.figures.items()]
    return ["## Figures\n\n" + "\n".join(lines)] if lines else []


def _lines(keys: FixedKeys, indent: str) -> list[str]:
    lines = []
    for key in keys.keys.values():
        lines.append(f"{indent}- `{key.name}`: {key_expects(key)}")
        inner = _inner(key.shape)
        if inner is not None:
            lines += _lines(inner, f"{indent}  ")
    return lines


def key_expects(key: Key) -> str:
    """Return what a value of a key of parameters is, and what it is where it is left out."""
    what = "a map of maps" if isinstance(key.shape, MapOf) and _inner(key.shape) else expected(key.shape)
    if key.required:
        return f"{what}; required"
    return what if key.default is None else f"{what}; default {_plain(key.default)}"


def parameter_page(word: str) -> list[str]:
    """Return the page of a parameter of plugins, or of a word that parameters take; none where there is none."""
    named, taking = list[str](), list[str]()
    for group, owner in _ARTICLES.items():
        for info, params in _loaded(group):
            for key in _keys(shape_of(params)):
                at = f"of the {owner} `{info.name}`"
                if key.name == word:
                    named.append(f"- {at}: {key_expects(key)}")
                if word in _words(key.shape):
                    taking.append(f"- `{key.name}: {word}` {at}")
    more = "`ppdm-flow explain` with the name of one says what it is for."
    parts = [(f"# {word}: a parameter", named), (f"# {word}: what a parameter may be", taking)]
    return ["\n\n".join((head, "\n".join(lines), more)) for head, lines in parts if lines]


def _keys(keys: FixedKeys) -> Iterator[Key]:
    for key in keys.keys.values():
        yield key
        inner = _inner(key.shape)
        if inner is not None:
            yield from _keys(inner)


def _words(shape: Shape) -> tuple[str, ...]:
    if isinstance(shape, ListOf):
        return _words(shape.item)
    return shape.choices if isinstance(shape, Text) else ()


def _inner(shape: Shape) -> FixedKeys | None:
    match shape:
        case FixedKeys():
            return shape
        case MapOf():
            return _inner(shape.value)
        case ListOf():
            return _inner(shape.item)
    return None


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, SupportBound):
        return "`{" + ", ".join(f"{unit}: {number:g}" for unit, number in value.document.items()) + "}`"
    if value in ("", ()):
        return '`""`' if value == "" else "`[]`"
    return f"`{value:.4g}`" if isinstance(value, float) else f"`{value}`"


def _about(model: type[BaseModel]) -> str:
    text = inspect.cleandoc(model.__doc__ or "")
    return text.replace("``", "`")


def kinds_served(info: PluginInfo) -> tuple[str, ...]:
    """Return the names of the kinds that a plugin's card means."""
    if not info.classes:
        return info.serves
    kinds = (spec.requirement for spec in kinds_of(third_parties()))
    return tuple(k.kind for k in kinds if k.classes and (info.classes == "people" or not k.in_population))


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
    names: dict[str, str] = {}
    for info in cards():
        for name, figure in info.figures.items():
            names.setdefault(name, figure.what)
    return dict(sorted(names.items()))


def figure_topics() -> list[str]:
    """Return the names of all figures as Markdown: a section for each kind of plugin, a line for each plugin."""
    return [
        f"## Figures of {group}\n\n" + "\n".join(_line(info) for info in cards(group) if info.figures)
        for group in GROUPS
    ]


def cards(*groups: str) -> Iterator[PluginInfo]:
    """Yield the cards of the plugins that can be loaded; of all that measure something, or of these groups."""
    yield from (info for group in groups or GROUPS for info, _ in _loaded(group))


def _loaded(group: str) -> Iterator[tuple[PluginInfo, type[BaseModel]]]:
    """Yield the card and the parameters of each plugin that can be loaded."""
    for plugin in registry.listed(group):
        try:
            spec = registry.load(group, plugin.name)
        except PluginError:  # a broken plugin must not hide the pages of the others; `doctor` names it
            continue
        yield spec.info, spec.params


def _line(info: PluginInfo) -> str:
    return f"- `{info.name}`: " + ", ".join(f"`{name}`" for name in info.figures)


def _page(name: str, info: PluginInfo, figure: FigureInfo) -> str:
    kind = "audit" if info.kind is Kind.AUDIT else "anonymizer"
    parts = [f"# {name}: a figure of the {kind} `{info.name}`", f"{figure.what[:1].upper()}{figure.what[1:]}."]
    if figure.redefined:
        former = f"In 0.1 this name meant what is `{figure.redefined}` now. A gate on it is refused (PPF667) unless the"
        parts.append(f'{former} audit says `definitions: "0.2"`, and so means the figure as it is here.')
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


# Where plugins are worked on by a run on Spark, as their cards say it.


_WHOLE = "the whole table"
_WITH_CASES = 2


def line_of(info: PluginInfo) -> str:
    """Return where a step or an audit is worked on, and what comes to the driver; nothing for other plugins."""
    if info.kind in (Kind.SOURCE, Kind.SINK):
        return ""
    cells = [cell for cell in _cells(info)[1:] if cell]
    return f"{cells[0]} ({cells[1]}); {cells[2]}" if len(cells) > _WITH_CASES else f"{cells[0]} ({cells[1]})"


def matrix(infos: Iterable[PluginInfo]) -> str:
    """Return a table in Markdown with a line for each of these cards, by name.

    An audit of a requirement stands under the name of that.
    """
    lines = sorted(_cells(info) for info in infos)
    return "\n".join(_table([("", "where", "what comes to the driver", "and in some cases"), *lines]))


def _table(lines: list[tuple[str, ...]]) -> Iterator[str]:
    for place, cells in enumerate(lines):
        yield f"| {' | '.join(cells)} |"
        if not place:
            yield "|" + "---|" * len(cells)


def _cells(info: PluginInfo) -> tuple[str, str, str, str]:
    names = [f"privacy.{kind}" for kind in info.serves] if info.kind is Kind.AUDIT and info.serves else [info.name]
    name, asks = ", ".join(f"`{each}`" for each in names), info.asks
    if info.kind is Kind.TABLE or asks.takes_all is True:
        return name, "driver", _WHOLE, ""
    if info.kind is Kind.GENERATOR:
        return name, "driver", f"it makes rows there, from {asks.usually}", asks.cases
    return name, asks.usual.where, asks.usually, asks.cases
