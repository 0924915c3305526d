"""What a step tells those who receive its table: what it did to a column, what remains true, and what does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Topic = Literal["done", "true", "not true", "correct"]
TOPICS: tuple[str, ...] = get_args(Topic)
_LINE = re.compile(r"(?P<topic>[a-z ]+?)(?: \((?P<when>[^()]*)\))?: (?P<text>.+)")
_CONDITION = re.compile(r"(?P<parameter>\w+): (?P<values>.+)")


@dataclass(frozen=True, slots=True)
class StatementCondition:
    """Says of a statement that it is made only where a parameter has one of some values, as policies write them.

    ``set`` and ``unset`` say whether there is any value: nothing, an empty list and ``false`` are none.
    """

    parameter: str
    values: tuple[str, ...]

    def holds(self, parameters: Mapping[str, Any]) -> bool:
        """Whether a step with these parameters makes the statement."""
        value = parameters.get(self.parameter)
        is_set = value is not None and value is not False and value not in ("", [], {}, ())
        written = {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
        return written in self.values or ("set" if is_set else "unset") in self.values


@dataclass(frozen=True, slots=True)
class RecipientStatement:
    """A statement on what a step leaves, made where all conditions hold."""

    topic: str
    text: str
    conditions: tuple[StatementCondition, ...] = ()

    @classmethod
    def read(cls, line: str) -> RecipientStatement:
        """Return the statement that a line of a card makes, as ``not true (how: nearest): sums``.

        Raises ValueError, with what is wrong, where the line is not written so.
        """
        parts = _LINE.fullmatch(line)
        if parts is None or parts["topic"] not in TOPICS:
            raise ValueError(f"a line begins with one of {', '.join(f'`{t}: `' for t in TOPICS)}")
        return cls(parts["topic"], parts["text"], tuple(_conditions(parts["when"])))

    def applies(self, parameters: Mapping[str, Any]) -> bool:
        """Whether a step with these parameters makes it."""
        return all(condition.holds(parameters) for condition in self.conditions)


def said(statements: tuple[RecipientStatement, ...], topic: Topic, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is said on a topic by a step with these parameters."""
    return tuple(s.text for s in statements if s.topic == topic and s.applies(parameters))


def _conditions(written: str | None) -> Iterator[StatementCondition]:
    for each in written.split(", ") if written is not None else ():
        parts = _CONDITION.fullmatch(each)
        if parts is None:
            raise ValueError("a condition names a parameter and its values, as `(how: random or controlled)`")
        yield StatementCondition(parts["parameter"], tuple(parts["values"].split(" or ")))
