"""What a sweep goes over: places of the policy and their values, as the command line has them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

MOST_POINTS = 1_000
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::(\d+))?\Z")
_MOST_DIGITS = 20
"""Of a number in a range; with more, `Decimal` does not have all of them."""
_QUOTES = "\"'"
_OPEN, _CLOSE = "[{", "]}"


@dataclass(frozen=True, slots=True)
class Axis:
    """A place as the user wrote it (``params.k``, ``steps.generate.min_support``) and the texts to put there."""

    path: str
    values: tuple[str, ...]


Point = Mapping[str, str]
"""The value at each axis, by its path."""


def axes(words: Iterable[str]) -> tuple[Axis, ...]:
    """Return the axes of ``PATH=V1,V2,…`` words. Raises UsageError, with all that is wrong at once.

    A value may be a range: ``2..5`` are the whole numbers from 2 to 5, ``0.1..0.9:5`` five numbers evenly apart.
    """
    axis_of: dict[str, Axis] = {}
    faults: list[Diagnostic] = []
    for word in words:
        try:
            axis = _axis(word)
            if axis.path in axis_of:
                raise _unclear(f"`--over {axis.path}` is given twice", "put all of its values into one, with commas")
            axis_of[axis.path] = axis
        except UsageError as error:
            faults += error.diagnostics
    if faults:
        raise UsageError(faults)
    return tuple(axis_of.values())


def grid(every: Sequence[Axis]) -> tuple[Point, ...]:
    """Return every combination of values, the last axis fastest. Raises UsageError where they are too many."""
    size = math.prod(len(axis.values) for axis in every)
    if size > MOST_POINTS:
        raise _too_many(f"{' times '.join(str(len(axis.values)) for axis in every)} values are {size:,} points")
    names = [axis.path for axis in every]
    return tuple(dict(zip(names, values, strict=True)) for values in itertools.product(*(a.values for a in every)))


def _axis(word: str) -> Axis:
    path, equals, text = word.partition("=")
    path = path.strip()
    if not equals or not path or "" in path.split("."):
        raise _unclear(f"`--over {word}` names no place with values", "write `--over steps.NAME.PARAM=1,5,20`")
    written = [_read_values(path, part) for part in _parts(text)]
    size = sum(map(len, written))  # counted before a range is written out
    if size > MOST_POINTS:
        raise _too_many(f"{size:,} values of `--over {path}` are as many points")
    return Axis(path, tuple(dict.fromkeys(value for values in written for value in values)))


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between commas, outside of brackets and quotes."""
    depth, quote, start, is_blank = 0, "", 0, True
    for i, c in enumerate(text):
        blank_before, is_blank = is_blank, is_blank and c.isspace()
        if quote:
            quote = "" if c == quote else quote
        elif c in _QUOTES and blank_before:
            quote = c
        elif c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
        elif c == "," and depth <= 0:
            yield text[start:i].strip()
            start, is_blank = i + 1, True
    yield text[start:].strip()


@dataclass(frozen=True, slots=True)
class _Range:
    """``size`` numbers evenly apart, both ends among them."""

    low: Decimal
    high: Decimal
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[str]:
        step = (self.high - self.low) / (self.size - 1) if self.size > 1 else Decimal(0)
        return (_plain(self.low + i * step) for i in range(self.size))


def _read_values(path: str, part: str) -> tuple[str, ...] | _Range:
    """Return what stands between two commas: a value, or a range that is not written out yet."""
    if not part:
        raise _unclear(f"`--over {path}=…` has an empty value", 'write "" for the empty text')
    if len(part) > 1 and part[0] in _QUOTES and part[-1] == part[0]:
        return (part[1:-1],)
    match = _RANGE.match(part)
    if match is None:
        return (part,)
    if any(len(number or "") > _MOST_DIGITS for number in match.groups()):
        raise _unclear(f"a range of `--over {path}` has a number of more than {_MOST_DIGITS} digits", "round it")
    return _range(path, part, Decimal(match[1]), Decimal(match[2]), match[3])


def _range(path: str, part: str, low: Decimal, high: Decimal, count: str | None) -> _Range:
    if count is None and (low % 1 or high % 1):
        raise _unclear(f"`{part}` of `--over {path}` is not a range of whole numbers", f"say how many: `{part}:5`")
    many = int(count) if count is not None else int(abs(high - low)) + 1
    if not (2 <= many <= MOST_POINTS or (many == 1 and low == high)):
        raise _unclear(
            f"`{part}` of `--over {path}` is not a range of 2 to {MOST_POINTS:,} numbers", "`LOW..HIGH:COUNT`"
        )
    return _Range(low, high, many)


def _plain(value: Decimal) -> str:
    text = f"{round(value, 12):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _too_many(text: str) -> UsageError:
    return UsageError(Diagnostic("PPF122", f"{text}: at most {MOST_POINTS:,}", help="give fewer values, or fewer axes"))


def _unclear(text: str, hint: str) -> UsageError:
    return UsageError(Diagnostic("PPF120", text, help=hint))
