"""Pages of the reference: codes, roles, requirements, plugins, figures, sections of the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.api import keys
from ppdm_flow.api.cards import plugin_page
from ppdm_flow.api.concept import Concept
from ppdm_flow.api.concepts import CONCEPTS
from ppdm_flow.api.figure_pages import figure_names, figure_pages
from ppdm_flow.api.figures import FIGURES
from ppdm_flow.api.templates import template_names, template_page
from ppdm_flow.core.codes import pages
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, UsageError
from ppdm_flow.core.page import CodePage
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk import registry

_WORDS: Mapping[str, Concept] = {**CONCEPTS, **FIGURES}


def explain(term: str) -> str:
    """Return the page of a term, or of a figure with its prefix, as Markdown. Raises UsageError where there is none."""
    word = term.strip().strip("`")
    if word.upper() in pages():
        return code_page(pages()[word.upper()])
    if (page := template_page(word)) is not None:
        return page
    name = word.rpartition(".")[2].lower().replace("-", "_").replace(" ", "_")
    found = [_WORDS[name].text(name)] if name in _WORDS else []
    if name not in _WORDS and name in keys.names():
        found.append(keys.key_page(name))
    found += [plugin_page(group, name) for group in registry.GROUPS if _installed(group, name)]
    found += figure_pages(name)
    if found:
        return "\n\n".join(found)
    near = closest(word, (*_WORDS, *keys.names(), *_plugins(), *figure_names(), *template_names(), *pages()))
    hint = f"did you mean `{near}`?" if near else None
    help_ = "`ppdm-flow explain` alone lists everything that has a page"
    raise UsageError(Diagnostic("PPF692", f"there is no page about `{term}`", hint=hint, help=help_))


def topics() -> str:
    """Return everything that has a page, as Markdown."""
    groups: dict[str, list[str]] = {}
    for name, concept in _WORDS.items():
        groups.setdefault(concept.kind, []).append(f"- `{name}`: {concept.short}")
    parts = [f"## {kind}\n\n" + "\n".join(lines) for kind, lines in groups.items()]
    figures = "\n".join(f"- `{name}`: {what}" for name, what in figure_names().items() if name not in _WORDS)
    parts.append(f"## Figures of plugins\n\n{figures}")
    rest = ", ".join(f"`{name}`" for name in keys.names() if name not in _WORDS)
    parts.append(f"## Keys of a policy\n\n{rest}")
    for group in registry.GROUPS:
        names = ", ".join(f"`{plugin.name}`" for plugin in registry.listed(group))
        parts.append(f"## {group.capitalize()}\n\n{names}")
    parts.append("## Templates\n\n" + ", ".join(f"`{name}`" for name in template_names()))
    codes = "\n".join(f"- `{page.code}`: {page.title}" for page in pages().values())
    return "\n\n".join([*parts, f"## Codes\n\n{codes}"])


def code_page(page: CodePage) -> str:
    """Return the page of a diagnostic code as Markdown."""
    parts = [f"# {page.code}: {page.title}", f"## What it means\n\n{page.what}", f"## Why it matters\n\n{page.why}"]
    parts.append(f"## What to do\n\n{page.fix}")
    if page.bad:
        parts.append(f"## Example\n\n```yaml\n{page.bad.strip()}\n```")
    if page.good:
        parts.append(f"## Better\n\n```yaml\n{page.good.strip()}\n```")
    return "\n\n".join(parts)


def _installed(group: str, name: str) -> bool:
    try:
        registry.find(group, name)
    except PluginError:
        return False
    return True


def _plugins() -> Iterator[str]:
    for group in registry.GROUPS:
        yield from (plugin.name for plugin in registry.listed(group))
