"""Texts in a plugin's own code and on its card: other words in its output come from the policy or the data."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, count, takewhile
from pathlib import Path
from types import CodeType
from typing import Any

from ppdm_flow.core.card_pages import page_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import texts
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import PluginSpec

_LETTER = re.compile(r"[^\W\d_]")
_GAP = re.compile(r"\{[^{}]*\}|%[a-z]|[,;:.] ")
"""Where a text for ``format`` or ``%`` has something else put in, or a sentence is cut."""
_OPTIMIZED = 0x1
"""The flag of a function's code; its first constant is the docstring."""
_INSIDE = r"[^\W_]"
_LETTER_OR_DIGIT = re.compile(_INSIDE)


def constants(home: str) -> Iterator[str]:
    """Yield the texts in the code of a plugin's package, then those of ppdm_flow, in lower case.

    They are read from the code on disk, of modules that are loaded, so that nothing which the plugin has learned since
    is among them; the page of a card counts as code of the module that has the card. Docstrings of functions do not
    count. Modules beside ``home``, the algorithm's, come first.

    The code is asked, and no list of messages that a plugin declares: the built-in ones say more than a thousand
    different things, and each would be written twice.
    """
    yield from own_constants(home)
    yield from _of_package(registry.OWN, registry.OWN)


class CodeTexts:
    """The texts of :func:`constants`, by the module of an algorithm: each is found once, however often it is asked for.

    No module may be imported in between.
    """

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._coming: dict[str, Iterator[str]] = {}

    def of(self, home: str) -> Iterator[str]:
        """Yield the texts of the plugin whose algorithm is in ``home``, to several who ask, each at its own pace."""
        code_texts = self._texts.setdefault(home, [])
        coming = self._coming.setdefault(home, constants(home))
        for place in count():
            if place == len(code_texts):
                text = next(coming, None)
                if text is None:
                    return
                code_texts.append(text)
            yield code_texts[place]


def own_constants(home: str) -> Iterator[str]:
    """Yield the texts in the code of a plugin's package, in lower case."""
    yield from _of_package(home.partition(".")[0], home.rpartition(".")[0] or home)


def _of_package(package: str, near: str) -> Iterator[str]:
    names = [n for n in list(sys.modules) if n.partition(".")[0] == package]
    for name in sorted(names, key=lambda n: (-_shared(n, near), n)):
        yield from _of_module(name)


def _shared(one: str, other: str) -> int:
    """Return how many packages two modules lie in together."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


class Explanations:
    """Checks whether every value in a text, as words of its own, lies within a piece that somebody wrote.

    So a word of a plugin's own sentence is not from the data, even if a value is spelled alike. ``pieces`` are the
    policy's, in lower case; a plugin's own come with each question. Each text is compared with all pieces once.
    """

    def __init__(self, pieces: Sequence[str], code: CodeTexts) -> None:
        self._pieces = pieces
        self._code = code
        self._by_policy: dict[str, _Covered] = {}
        self._by_code: dict[tuple[str, str], _Covered] = {}

    def has(self, value: str, text: str, home: str) -> bool:
        """Whether the policy explains each place where a text has the value, or the code of ``home`` does."""
        if text not in self._by_policy:
            self._by_policy[text] = _Covered(text, iter(self._pieces))
        if self._by_policy[text].has(value):
            return True
        if (text, home) not in self._by_code:
            self._by_code[text, home] = _Covered(text, self._code.of(home))
        return self._by_code[text, home].has(value)


class _Covered:
    """The parts of a text inside of pieces, which are taken one after the other for as long as they are needed."""

    def __init__(self, text: str, pieces: Iterator[str]) -> None:
        self._lower = text.casefold()
        self._pieces = (piece for piece in pieces if piece in self._lower)
        self._spans: list[tuple[int, int]] = []

    def has(self, value: str) -> bool:
        """Whether each place of the value lies inside of a piece."""
        left = [p for p in _places(value.casefold(), self._lower) if not any(map(_within(p), self._spans))]
        for piece in self._pieces if left else ():
            spans = list(_everywhere(piece, self._lower))
            self._spans += spans
            left = [p for p in left if not any(map(_within(p), spans))]
            if not left:
                return True
        return not left


def _within(place: tuple[int, int]) -> Callable[[tuple[int, int]], bool]:
    return lambda span: span[0] <= place[0] and place[1] <= span[1]


def may_quote(error: PpdmError, words: Iterable[str], home: str) -> bool:
    """Whether an error says something that is neither in ``words`` nor in the code of the plugin's package."""
    pieces = {*(word.casefold() for word in words if word), *own_constants(home)}
    return any(unexplained(text, pieces) for each in error.diagnostics for text in _shown(each))


def unexplained(text: str, pieces: Iterable[str]) -> bool:
    """Whether a text has a word with a letter that no piece has as a word of its own, or in the plural.

    ``pieces`` are in lower case.
    """
    rest = text.casefold()
    for piece in sorted(pieces, key=len, reverse=True):
        if piece in rest:
            rest = re.sub(f"{_bounded(piece, '(?:s|es)?')}", "\0", rest)
    return _LETTER.search(rest) is not None


def _shown(diagnostic: Diagnostic) -> Iterator[str]:
    yield from (t for t in (diagnostic.code, diagnostic.message, diagnostic.hint, diagnostic.help) if t)
    yield from diagnostic.notes
    yield from (related.text for related in diagnostic.related)


def _places(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where ``wanted`` stands as words of its own, as the pattern of :func:`_bounded` finds it."""
    opens, closes = _LETTER_OR_DIGIT.match(wanted), _LETTER_OR_DIGIT.match(wanted[-1:])
    for start, end in _everywhere(wanted, text):
        inside = opens and start and _LETTER_OR_DIGIT.match(text, start - 1)
        if not inside and not (closes and _LETTER_OR_DIGIT.match(text, end)):
            yield start, end


def _everywhere(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where ``wanted`` begins and ends, overlapping places too; a pattern for each would have to be compiled."""
    start = text.find(wanted)
    while start >= 0:
        yield start, start + len(wanted)
        start = text.find(wanted, start + 1)


def _bounded(words: str, ending: str = "") -> str:
    """Return the pattern of ``words`` where neither end of them lies inside of a word."""
    before = f"(?<!{_INSIDE})" if re.match(_INSIDE, words) else ""
    after = f"{ending}(?!{_INSIDE})" if re.match(_INSIDE, words[-1:]) else ""
    return f"{before}{re.escape(words)}{after}"


@cache
def _of_module(name: str) -> tuple[str, ...]:
    code = _code(name)
    if code is None:
        return ()
    said = chain(_texts(code), _on_cards(name))
    pieces = (piece.casefold().strip() for text in said for piece in (text, *_GAP.split(text)))
    return tuple(dict.fromkeys(piece for piece in pieces if _LETTER.search(piece)))


def _code(name: str) -> CodeType | None:
    """Return a module's code as it is on disk; None where there is none to read."""
    module: Any = sys.modules.get(name)
    loader: Any = getattr(getattr(module, "__spec__", None), "loader", None)
    try:
        if hasattr(loader, "get_code"):
            code: CodeType | None = loader.get_code(name)
            return code
        file = Path(str(module.__file__))
        return compile(file.read_bytes(), file.name, "exec")
    except (PpdmError, ImportError, OSError, SyntaxError, ValueError, AttributeError):
        return None


def _on_cards(name: str) -> Iterator[str]:
    """Yield the texts on the pages of a module's cards; they were read when the module was imported."""
    specs = (value for value in list(vars(sys.modules[name]).values()) if isinstance(value, PluginSpec))
    for page in (page_of(spec.info.page) for spec in specs if spec.info.page):
        yield from (page.topic, *texts(page.front), *page.body.split("\n"))


def _texts(code: CodeType) -> Iterator[str]:
    named = code.co_flags & _OPTIMIZED and not code.co_name.startswith("<")
    yield from _each(code.co_consts[1:] if named else code.co_consts)


def _each(constants: Iterable[object]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple | frozenset):
            yield from _each(constant)
        elif isinstance(constant, CodeType):
            yield from _texts(constant)
