"""Pages: texts that people read, as Markdown files with YAML front matter. Each is read when it is asked for.

The codes of diagnostics have pages: PPF1xx text, 2xx shape, 3xx inheritance and params, 4xx plugins, 5xx policy rules,
6xx plan, 7xx data and run, 8xx audit, 9xx internal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, Generic, TypeVar

import yaml

_T = TypeVar("_T")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PARTS = re.compile(r"---\n(?P<front>.*?\n)---\n(?P<body>.*)", re.DOTALL)
_BLOCK = re.compile(r"```\w*\n(?P<held>.*)\n```", re.DOTALL)
_ENDING = ".md"


class MalformedPageError(ValueError):
    """A page that cannot be read; says which file, and what is wrong with it."""

    def __init__(self, name: str, fault: str) -> None:
        super().__init__(f"{name if ':' in name else f'ppdm_flow/pages/{name}{_ENDING}'}: {fault}")


@dataclass(frozen=True)
class MarkdownPage:
    """A page: its ``name`` with its folder (of another package ``package:file``), its front matter, its Markdown."""

    name: str
    front: Mapping[str, Any]
    body: str

    @property
    def topic(self) -> str:
        """The name without its folder or package."""
        return self.name.rpartition(":")[2].rpartition("/")[2].removesuffix(_ENDING)

    def entry(self, key: str) -> Any:
        """Return what the front matter says under a key. Raises MalformedPageError where it says nothing."""
        if self.front.get(key) in (None, ""):
            raise MalformedPageError(self.name, f"its front matter has no `{key}`")
        return self.front[key]

    @cached_property
    def sections(self) -> Mapping[str, str]:
        """The text below each heading of the second level, in order; what stands before the first is under ``""``."""
        lines_of: dict[str, list[str]] = {"": []}
        below, in_block = "", False
        for line in self.body.split("\n"):
            in_block ^= line.startswith("```")
            if line.startswith("## ") and not in_block:
                below = line[3:].strip()
                if below in lines_of:
                    raise MalformedPageError(self.name, f"it has the heading `{below}` twice")
                lines_of[below] = []
            else:
                lines_of[below].append(line)
        return {heading: "\n".join(lines).strip() for heading, lines in lines_of.items()}

    def section(self, heading: str) -> str:
        """Return the text below a heading. Raises MalformedPageError where there is none."""
        if not self.sections.get(heading):
            raise MalformedPageError(self.name, f"it says nothing under the heading `{heading}`")
        return self.sections[heading]

    def example(self, heading: str) -> str:
        """Return what the block of code below a heading holds. Raises MalformedPageError where it is no such block."""
        block = _BLOCK.fullmatch(self.section(heading))
        if block is None or "\n```" in block["held"]:
            raise MalformedPageError(self.name, f"what stands under `{heading}` is not one block of code")
        return block["held"]


class Pages(Mapping[str, _T], Generic[_T]):
    """The pages of some folders by topic, in alphabetical order; each is read once, when it is asked for."""

    def __init__(self, *folders: str, made: Callable[[MarkdownPage], _T]) -> None:
        self._folders = folders
        self._made = made
        self._found: dict[str, _T] = {}

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return dict(sorted((topic, f"{folder}/{topic}") for folder in self._folders for topic in _topics(folder)))

    def __getitem__(self, topic: str) -> _T:
        if topic not in self._found:
            self._found[topic] = self._made(read(self._names[topic]))
        return self._found[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, topic: object) -> bool:
        return topic in self._names


@cache
def read(name: str) -> MarkdownPage:
    """Return the page of this name, such as ``codes/PPF101``."""
    file = resources.files("ppdm_flow") / "pages" / f"{name}{_ENDING}"
    return parsed(name, file.read_text(encoding="utf-8"))


@cache
def read_of_package(name: str) -> MarkdownPage:
    """Return the page of another package, such as ``package:page.md``.

    Raises MalformedPageError, and OSError or ImportError where there is none.
    """
    package, _, file = name.partition(":")
    return parsed(name, (resources.files(package) / file).read_text(encoding="utf-8"))


@cache
def synonyms() -> Mapping[str, Sequence[str]]:
    """Return the words that people bring from papers and from other tools, and ours for them, the likeliest first."""
    text = (resources.files("ppdm_flow") / "pages" / "synonyms.yaml").read_text(encoding="utf-8")
    words: Mapping[str, Sequence[str]] = yaml.load(text, Loader=_Loader)  # noqa: S506  # a safe loader
    return words


def exists(name: str) -> bool:
    """Return whether the program has the page of this name."""
    return (resources.files("ppdm_flow") / "pages" / f"{name}{_ENDING}").is_file()


def parsed(name: str, text: str) -> MarkdownPage:
    """Return a page from its text. Raises MalformedPageError."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise MalformedPageError(name, "it does not begin with front matter between two lines `---`")
    try:
        front = yaml.load(parts["front"], Loader=_Loader)  # noqa: S506  # a safe loader, in C where there is one
    except yaml.YAMLError as error:
        raise MalformedPageError(name, f"its front matter is not valid YAML: {error}") from error
    if not isinstance(front, dict):
        raise MalformedPageError(name, "its front matter is no map")
    return MarkdownPage(name, front, parts["body"].strip())


def _topics(folder: str) -> Iterator[str]:
    for file in (resources.files("ppdm_flow") / "pages" / folder).iterdir():
        if file.name.endswith(_ENDING):
            yield file.name.removesuffix(_ENDING)


_HEADINGS = ("What it means", "Why it matters", "What to do", "Example", "Better")


@dataclass(frozen=True, slots=True)
class CodePage:
    """The page of a diagnostic code: meaning, reason, remedy and short examples; ``body`` is all of it as Markdown.

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


def code_page(page: MarkdownPage) -> CodePage:
    """Return the page of a code. Raises MalformedPageError unless it has each section, in order, and nothing else."""
    if tuple(page.sections) != ("", *_HEADINGS) or page.sections[""]:
        raise MalformedPageError(page.name, f"its headings must be: {', '.join(_HEADINGS)}")
    what, why, fix = (page.section(heading) for heading in _HEADINGS[:3])
    bad, good = (page.example(heading) for heading in _HEADINGS[3:])
    return CodePage(page.topic, page.entry("title"), what, why, fix, bad, good, page.body)


def language(example: str) -> str:
    """Return what Markdown calls the language of an example: ``yaml``, ``console`` or ``python``."""
    if example.startswith("import "):
        return "python"
    return "console" if any(line.startswith("$ ") for line in example.splitlines()) else "yaml"


def fenced(example: str) -> str:
    """Return an example as a block of Markdown, with its language."""
    return f"```{language(example)}\n{example.strip()}\n```"


_PAGES = Pages("codes", made=code_page)
