"""Every diagnostic code with its page: what ``ppdm-flow explain CODE`` shows.

PPF1xx text, 2xx shape, 3xx inheritance and params, 4xx plugins, 5xx policy rules, 6xx plan, 7xx data and run,
8xx audit, 9xx internal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ppdm_flow.core.pages import MalformedPageError, Page, Pages

_HEADINGS = ("What it means", "Why it matters", "What to do", "Example", "Better")


@dataclass(frozen=True, slots=True)
class CodePage:
    """What a diagnostic code means, why it matters, what to do, and short examples; ``body`` is all of it as Markdown.

    ``bad`` raises the code and ``good`` does not. Each is a part of a policy in YAML, from the top; or what was typed
    at a shell, and printed, if a line begins with ``$ ``.
    """

    code: str
    title: str
    what: str
    why: str
    fix: str
    bad: str = ""
    good: str = ""
    body: str = ""


def pages() -> Mapping[str, CodePage]:
    """Return all pages by code."""
    return _PAGES


def code_page(page: Page) -> CodePage:
    """Return the page of a code. Raises MalformedPageError unless it has each section, in order, and nothing else."""
    if tuple(page.sections) != ("", *_HEADINGS) or page.sections[""]:
        raise MalformedPageError(page.name, f"its headings must be: {', '.join(_HEADINGS)}")
    what, why, fix = (page.section(heading) for heading in _HEADINGS[:3])
    bad, good = (page.example(heading) for heading in _HEADINGS[3:])
    return CodePage(page.topic, page.entry("title"), what, why, fix, bad, good, page.body)


def language(example: str) -> str:
    """Return what Markdown calls the language of an example: ``yaml`` or ``console``."""
    return "console" if any(line.startswith("$ ") for line in example.splitlines()) else "yaml"


def fenced(example: str) -> str:
    """Return an example as a block of Markdown, with its language."""
    return f"```{language(example)}\n{example.strip()}\n```"


_PAGES = Pages("codes", made=code_page)
