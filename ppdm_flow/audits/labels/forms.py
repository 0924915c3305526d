"""What labels are written like: masks, intervals, sets, parts of dates, and the label for everything."""

from __future__ import annotations

import math
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.records import dataclass

Truths = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_PLAIN = re.compile(rf"^{_NUMBER}$")
_BETWEEN = re.compile(rf"^([\[(]) *({_NUMBER}) *(?:,|\.\.|;) *({_NUMBER}) *([\])])$")
_DASHED = re.compile(r"^([0-9]+(?:\.[0-9]+)?) *[-–] *([0-9]+(?:\.[0-9]+)?)$")
_BEYOND = re.compile(rf"^(<=|>=|<|>|≤|≥) *({_NUMBER})$")
_UPWARD = re.compile(r"^([0-9]+(?:\.[0-9]+)?)\+$")
_LISTED = re.compile(r"^\{(.*)\}$", re.DOTALL)
_DECADE = re.compile(r"^([0-9]{3})0s$")
_QUARTER = re.compile(r"^([0-9]{4})-Q([1-4])$")
_PART = re.compile(r"^([0-9]{4})(?:-([0-9]{2}))?$")
ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""How a date begins."""
SPECIAL = r"[*]|^[\[({<>≤≥]|^[0-9.]+ *[-–] *[0-9.]+$|^[0-9.]+\+$|^[0-9]{3}0s$|^[0-9]{4}$|^[0-9]{4}-Q[1-4]$"
"""What a label has that may stand for other values than itself."""
MASK = "*"


@dataclass(frozen=True, slots=True)
class Between:
    """Numbers from ``low`` to ``high``, ends included (an end that is not is moved by the least that there is)."""

    low: float
    high: float

    def covers(self, numbers: Floats) -> Truths:
        """Return which numbers lie within; one that is none (NaN) does not."""
        within: Truths = (numbers >= self.low) & (numbers <= self.high)
        return within


def between(label: str) -> Between | None:
    """Read ``[20, 30)``, ``20-29``, ``>= 40``, ``40+`` or a number; None for what is no range of numbers."""
    if _PLAIN.match(label):
        return Between(float(label), float(label))
    if match := _BETWEEN.match(label):
        low, high = float(match[2]), float(match[3])
        return Between(low if match[1] == "[" else _after(low), high if match[4] == "]" else _before(high))
    if match := _DASHED.match(label):
        return Between(float(match[1]), float(match[2]))
    if match := _UPWARD.match(label):
        return Between(float(match[1]), math.inf)
    if match := _BEYOND.match(label):
        return _beyond(match[1], float(match[2]))
    return None


def _beyond(sign: str, edge: float) -> Between:
    match sign:
        case "<=" | "≤":
            return Between(-math.inf, edge)
        case ">=" | "≥":
            return Between(edge, math.inf)
        case "<":
            return Between(-math.inf, _before(edge))
        case _:
            return Between(_after(edge), math.inf)


def _after(edge: float) -> float:
    return math.nextafter(edge, math.inf)


def _before(edge: float) -> float:
    return math.nextafter(edge, -math.inf)


def numbers(values: pa.StringArray) -> Floats:
    """Return the values as numbers, NaN where one is none."""
    kept = pc.if_else(pc.match_substring_regex(values, _PLAIN.pattern), values, None)
    floats: Floats = kept.cast(pa.float64()).fill_null(math.nan).to_numpy(zero_copy_only=False)
    return floats


def everything(labels: pa.StringArray, mask: str = MASK) -> Truths:
    """Return which labels are nothing but mask: they say nothing of their person."""
    said = pc.replace_substring(labels, pattern=mask, replacement="")
    return _truths(pc.and_(pc.equal(said, ""), pc.not_equal(labels, "")))


def one_width(labels: pa.StringArray, mask: str = MASK) -> bool:
    """Whether all labels that end in masks, and hold no other, are of one length: then values are padded to it.

    A prefix is; what covers a text sign by sign leaves every text its own length.
    """
    ending = labels.filter(pc.ends_with(labels, mask)).to_pylist()
    kept = ((len(label), label.rstrip(mask)) for label in ending)
    return len({length for length, begin in kept if mask not in begin}) == 1


def has_shape(label: str, mask: str = MASK) -> bool:
    """Whether a label is written like a mask, a set or a part of a date."""
    return mask in label or members(label) is not None or months(label) is not None


def members(label: str) -> list[str] | None:
    """Return the members of a set written ``{a, b}``; None for what is none."""
    match = _LISTED.match(label)
    return None if match is None else [m.strip() for m in re.split(r"[,;|]", match[1])]


def months(label: str) -> tuple[float, float] | None:
    """Return the first and the last month of a part of dates, each as year * 100 + month; None for another label."""
    if match := _PART.match(label):
        year = int(match[1]) * 100
        return (year, year + 99) if match[2] is None else (year + int(match[2]), year + int(match[2]))
    if match := _DECADE.match(label):
        return int(match[1]) * 1000, int(match[1]) * 1000 + 999
    if match := _QUARTER.match(label):
        first = int(match[1]) * 100 + 3 * int(match[2]) - 2
        return first, first + 2
    return None


def plain_numbers(labels: pa.StringArray) -> Truths:
    """Return which labels are numbers, and nothing more."""
    return _truths(pc.match_substring_regex(labels, _PLAIN.pattern))


def _truths(mask: pa.BooleanArray) -> Truths:
    truths: Truths = mask.to_numpy(zero_copy_only=False).astype(np.bool_)
    return truths
