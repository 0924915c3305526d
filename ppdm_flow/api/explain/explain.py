"""Pages of the reference: codes, roles, requirements, plugins, figures, sections of the policy."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.api.explain import concepts
from ppdm_flow.api.explain.cards import (
    figure_names,
    figure_pages,
    figure_topics,
    is_owned,
    parameter_page,
    plugin_page,
)
from ppdm_flow.api.explain.concepts import CONCEPTS
from ppdm_flow.api.explain.templates import template_names, template_page
from ppdm_flow.core.codes import current_code
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, UsageError
from ppdm_flow.core.pages import CodePage, pages
from ppdm_flow.core.suggest import closest, synonyms_of
from ppdm_flow.policy.language.kinds import aliases, third_parties
from ppdm_flow.sdk import registry


def explain(term: str) -> str:
    """Return the page of a term, or of a figure with its prefix, as Markdown. Raises UsageError where there is none.

    A word of papers or of other tools has the pages of ours for it, a parameter and a word that it takes a line for
    each plugin.
    """
    word = term.strip().strip("`")
    texts = _pages(word)
    if not texts:
        meant = [each for each in synonyms_of(word) if _pages(each)]
        texts = [f"Here, `{word}` is {' or '.join(f'`{each}`' for each in meant)}."] if meant else []
        texts += [page for each in meant for page in _pages(each)]
        texts += parameter_page(word.lower().replace("-", "_").replace(" ", "_"))
    if texts:
        return "\n\n".join(texts)
    near = closest(
        word,
        (*CONCEPTS, *third_parties(), *concepts.names(), *_plugins(), *figure_names(), *template_names(), *pages()),
        aliases(),
    )
    hint = f"did you mean `{near}`?" if near else None
    help_ = "`ppdm-flow explain` alone lists everything that has a page"
    raise UsageError(Diagnostic("PPF692", f"there is no page about `{term}`", hint=hint, help=help_))


def _pages(word: str) -> list[str]:
    """Return the pages of one of our own words; none where it is not ours."""
    if (code := current_code(word.upper())) in pages():
        return [code_page(pages()[code], word.upper())]
    if (page := template_page(word)) is not None:
        return [page]
    metric = word.lower().replace("-", "_").replace(" ", "_")
    if "." in metric and is_owned(metric):
        return figure_pages(metric)
    name = metric.rpartition(".")[2]
    concept = CONCEPTS[name] if name in CONCEPTS else concepts.concept(name)
    texts = [concept.text()] if concept is not None else []
    if concept is None and name in concepts.names():
        texts += [concepts.key_page(name), *parameter_page(name)]
    texts += [plugin_page(group, name) for group in registry.GROUPS if _installed(group, name)]
    texts += figure_pages(name) or figure_pages(metric)
    return texts


def topics() -> str:
    """Return everything that has a page, as Markdown."""
    groups: dict[str, list[str]] = {}
    for concept in sorted(CONCEPTS.values(), key=lambda concept: concept.place):
        groups.setdefault(concept.kind, []).append(f"- `{concept.page.topic}`: {concept.summary}")
    parts = [f"## {kind}\n\n" + "\n".join(lines) for kind, lines in groups.items()]
    others = [f"- `{spec.name}`: {spec.audit.info.summary}" for spec in concepts.usable()]
    if others:
        parts.append("## Requirements of other packages\n\n" + "\n".join(others))
    rest = ", ".join(f"`{name}`" for name in concepts.names() if name not in CONCEPTS)
    parts.append(f"## Keys of a policy\n\n{rest}")
    for group in registry.GROUPS:
        names = ", ".join(f"`{plugin.name}`" for plugin in registry.listed(group))
        parts.append(f"## {group.capitalize()}\n\n{names}")
    parts += figure_topics()
    parts.append("## Templates\n\n" + ", ".join(f"`{name}`" for name in template_names()))
    codes = "\n".join(f"- `{page.code}`: {page.title}" for page in pages().values())
    return "\n\n".join([*parts, f"## Codes\n\n{codes}"])


def code_page(page: CodePage, asked: str) -> str:
    """Return the page of a diagnostic code as Markdown; a code that was merged into it may have been ``asked`` for."""
    renamed = f"`{asked}` is called `{page.code}` now.\n\n" if asked != page.code else ""
    return f"# {page.code}: {page.title}\n\n{renamed}{page.body}"


def _installed(group: str, name: str) -> bool:
    try:
        registry.find(group, name)
    except PluginError:
        return False
    return True


def _plugins() -> Iterator[str]:
    for group in registry.GROUPS:
        yield from (plugin.name for plugin in registry.listed(group))
