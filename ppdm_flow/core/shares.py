"""Shares as people write them: ``4%`` for 0.04, wherever a field takes a number of at most 1."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


class ShareMark:
    """Marks a number as a share where its bounds do not say so: more than 1 is judged in words of its own."""


SHARE = ShareMark()
_PLAIN_NUMBER = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*", re.ASCII)
_PERCENTAGE = re.compile(r"\s*([0-9]{1,3}(?:\.[0-9]{1,30})?)\s*%\s*")


def plain_share(text: str) -> str:
    """Return a percentage from 0 to 100 as a decimal number, and every other text as it is.

    >>> plain_share("4%"), plain_share("12.5 %"), plain_share("400%"), plain_share("0.04")
    ('0.04', '0.125', '400%', '0.04')
    """
    match = _PERCENTAGE.fullmatch(text)
    share = Decimal(match[1]).scaleb(-2) if match is not None else None
    return text if share is None or share > 1 else f"{share.normalize():f}"


def is_plain_number(text: str) -> bool:
    """Whether a text is a number in ASCII digits, without an exponent or anything between its digits."""
    return _PLAIN_NUMBER.fullmatch(text) is not None


def plain_shares(model: type[BaseModel], value: Any) -> Any:
    """Return what a model is made from, with percentages of fields that are shares as decimal numbers."""
    shares = _shares_of(model)
    if not shares or not isinstance(value, Mapping):
        return value
    return {key: _plain(each) if key in shares else each for key, each in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return plain_share(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


@cache
def _shares_of(model: type[BaseModel]) -> frozenset[str]:
    """Return the fields that are shares, or lists or maps of them, by all names that they have."""
    fields = {name: info for name, info in model.model_fields.items() if _is_share(info.annotation, info.metadata)}
    return frozenset((*fields, *(info.alias for info in fields.values() if info.alias is not None)))


def _is_share(annotation: Any, constraints: list[Any]) -> bool:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        marks = [m for mark in inner[1:] for m in (mark.metadata if isinstance(mark, FieldInfo) else [mark])]
        return _is_share(inner[0], [*marks, *constraints])
    if origin in (Union, types.UnionType):
        return any(_is_share(each, constraints) for each in inner)
    if origin in (dict, tuple, list):
        return any(_is_share(each, []) for each in inner)
    return annotation is float and any(map(bounds_share, constraints))


def bounds_share(mark: Any) -> bool:
    """Whether a mark of a number says that it is a share: at most 1."""
    ends = (getattr(mark, "le", None), getattr(mark, "lt", None))
    return isinstance(mark, ShareMark) or any(end is not None and end <= 1 for end in ends)
