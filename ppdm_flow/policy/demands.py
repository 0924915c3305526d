"""The demands of floors: each kind as a value, with the text that a policy writes for it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from ppdm_flow.policy.language.words import short

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SIGNS = {">=": "at least", "<=": "at most", ">": "above", "<": "below", "==": "exactly"}
_UNITS = {"count": " rows", "ratio": " of the rows"}


@dataclass(frozen=True, slots=True)
class FigureBound:
    """A figure is at least, at most, … ``figure``; ``unit`` is ``count`` or ``ratio`` for a support.

    One that is written as a ``percentage`` is met by shares alone.
    """

    sign: str
    figure: Decimal
    unit: str = ""
    percentage: bool = False

    @property
    def text(self) -> str:
        """As the policy writes it: ``>= 5``."""
        return f"{self.sign} {{{self.unit}: {self.figure}}}" if self.unit else f"{self.sign} {self.figure}"

    @property
    def words(self) -> str:
        """As a phrase: ``be at least 5``."""
        return f"be {_SIGNS[self.sign]} {self.figure}{_UNITS.get(self.unit, '')}"


@dataclass(frozen=True, slots=True)
class EqualTo:
    """A value is this one; ``wanted`` is its JSON, so that lists and maps can be meant as well."""

    wanted: str

    @classmethod
    def of(cls, tree: Any) -> EqualTo:
        """Demand exactly this tree of text."""
        return cls(json.dumps(tree, ensure_ascii=False, sort_keys=True))

    @property
    def tree(self) -> Any:
        """The value that is wanted."""
        return json.loads(self.wanted)

    @property
    def text(self) -> str:
        """As the policy writes it."""
        return f"is {_plain(self.tree) if isinstance(self.tree, str) else self.wanted}"

    @property
    def words(self) -> str:
        """As a phrase that follows ``must``."""
        return f"be `{short(self.tree)}`" if isinstance(self.tree, str) else "stay as the template has it"


@dataclass(frozen=True, slots=True)
class _Names:
    """A demand on names: ``begins`` is the policy's text before them, ``says`` the words after ``must``."""

    wanted: tuple[str, ...]
    begins: ClassVar[str]
    says: ClassVar[str]

    @property
    def text(self) -> str:
        """As the policy writes it."""
        return f"{self.begins} {_listed(self.wanted)}"

    @property
    def words(self) -> str:
        """As a phrase that follows ``must``."""
        return f"{self.says} {quoted(self.wanted)}"


class OneOf(_Names):
    """A value is one of these."""

    __slots__ = ()
    begins, says = "one of", "be one of"


class HasAll(_Names):
    """A list, or a map's keys, has all of these."""

    __slots__ = ()
    begins, says = "contains", "contain"


class SubsetOf(_Names):
    """A list, or a map's keys, has nothing but these."""

    __slots__ = ()
    begins, says = "only", "have nothing but"


class GroupsBy(_Names):
    """Groups are formed by all of these names; by more of them only where that asks for more."""

    __slots__ = ()
    begins, says = "not weaker than", "group by"


@dataclass(frozen=True, slots=True)
class NotWeaker:
    """A word of the language is not weaker than this one."""

    than: str

    @property
    def text(self) -> str:
        """As the policy writes it."""
        return f"not weaker than {self.than}"

    @property
    def words(self) -> str:
        """As a phrase that follows ``must``."""
        return f"not be weaker than `{self.than}`"


@dataclass(frozen=True, slots=True)
class IsSet:
    """Something is stated."""

    text: str = "present"
    words: str = "be stated"


@dataclass(frozen=True, slots=True)
class IsUnset:
    """Something is left to its default."""

    text: str = "absent"
    words: str = "not be stated"


@dataclass(frozen=True, slots=True)
class RelativeDemand:
    """Relative to what the template says itself: ``not weaker``, or for lists and maps ``keeps all``."""

    text: str


Demand = FigureBound | EqualTo | OneOf | HasAll | SubsetOf | NotWeaker | GroupsBy | IsSet | IsUnset

NOT_WEAKER = RelativeDemand("not weaker")
KEEPS_ALL = RelativeDemand("keeps all")


def quoted(names: tuple[str, ...]) -> str:
    """Return names for a message, at most twelve of them."""
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(f"`{short(n, 40)}`" for n in names[:12]) + more


def keys_or_items(tree: Any) -> tuple[str, ...]:
    """Return the names that a list or a map holds; a single text is a list of one."""
    if isinstance(tree, str):
        return (tree,)
    if isinstance(tree, Mapping):
        return tuple(tree)
    return tuple(i for i in tree if isinstance(i, str)) if isinstance(tree, list) else ()


def _listed(names: tuple[str, ...]) -> str:
    return f"[{', '.join(_plain(name) for name in names)}]"


def _plain(text: str) -> str:
    """A word as it is, anything else in quotes; ``and`` would end a demand."""
    return text if _WORD.fullmatch(text) and text not in ("and", "null", "Null", "NULL") else json.dumps(text)
