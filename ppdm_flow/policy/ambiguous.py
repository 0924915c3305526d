"""Data values written without quotes that other YAML readers would take for something else (PPF110).

This reader takes every scalar as text, so the policy means what it says; but an editor, a linter or a colleague's
script that reads the same file sees ``NO`` as false, ``010`` as 8 or 10, ``12:30`` as 750.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.language.kinds import RequirementSpec, kinds_among, places_below
from ppdm_flow.policy.language.privacy import kinds_named
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath

_VALUES = (
    ("attributes", "*", "domain", "*"),
    ("attributes", "*", "hierarchy", "levels", "*", "*"),
    ("attributes", "*", "hierarchy", "order", "*"),
    ("source", "columns", "*"),
    ("source", "missing", "*"),
)
_KEYS = (("attributes", "*", "hierarchy", "levels", "*"),)

_WORD = re.compile(r"(?i:true|false|yes|no|on|off|null)\Z|~\Z")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[Tt ].*)?\Z")
_SIXTIES = re.compile(r"[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?\Z")
_NUMBER = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+|(?:[\d_]+\.?[\d_]*|\.[\d_]+)(?:[eE][-+]?\d+)?|\.(?i:inf|nan))\Z"
)
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z")


def reading(text: str) -> str | None:
    """Say what another YAML reader makes of a plain scalar, or None where nothing is lost.

    A number that comes back as it was written (``5``, ``-2``, ``1.5``) is harmless.
    """
    if _WORD.match(text):
        return "nothing" if text.lower() in ("null", "~") else "true or false"
    if _DATE.match(text):
        return "a date"
    if _SIXTIES.match(text):
        return "a number to base 60"
    if _NUMBER.match(text) and not set(text) <= set("._+-") and not _comes_back(text):
        return "a number, written otherwise"
    return None


def _comes_back(number: str) -> bool:
    """Whether a reader that takes it for a number writes the same text again."""
    if _WHOLE.match(number):
        return True
    try:
        return "." in number and repr(float(number)) == number
    except ValueError:
        return False


def _by_place(patterns: Iterable[PolicyPath]) -> Mapping[tuple[int, str], list[PolicyPath]]:
    """Patterns by their length and first key: few of a policy's values are near one."""
    paths_at: dict[tuple[int, str], list[PolicyPath]] = {}
    for pattern in patterns:
        paths_at.setdefault((len(pattern), pattern[0]), []).append(pattern)
    return paths_at


def _below_entries(
    kinds: Iterable[RequirementSpec], places: Callable[[RequirementSpec], Iterable[PolicyPath]]
) -> Iterator[PolicyPath]:
    """Yield the places at which requirements name values of the data."""
    for spec in kinds:
        yield from (place for below in places(spec) for place in places_below(spec, below))


def ambiguous(flat: FlatPolicy) -> Iterator[Diagnostic]:
    """Warn once for each list or map with such values, at the first of them."""
    kinds = kinds_among(kinds_named(flat.tree))
    values = _by_place((*_VALUES, *_below_entries(kinds, lambda spec: spec.value_places)))
    keys = _by_place((*_KEYS, *_below_entries(kinds, lambda spec: spec.value_keys)))
    groups: defaultdict[PolicyPath, list[tuple[Span, str, str]]] = defaultdict(list)
    for path, node in flat.scalars.items():
        if node.plain and node.text and _fits(path, values):
            meaning = reading(node.text)
            if meaning:
                groups[path[:-1]].append((node.span, node.text, meaning))
    for path, span in flat.keys.items():
        if path not in flat.quoted_keys and _fits(path, keys):
            meaning = reading(path[-1])
            if meaning:
                groups[path[:-1]].append((span, path[-1], meaning))
    for path, each in groups.items():
        span, text, meaning = min(each)
        more = f", and {len(each) - 1} more here likewise" if len(each) > 1 else ""
        yield Diagnostic(
            "PPF110",
            f"other programs read `{short(text)}` without quotes as {meaning}{more}",
            span,
            Severity.WARNING,
            hint=f'write "{short(text)}"',
            path=path,
        )


def _fits(path: PolicyPath, patterns: Mapping[tuple[int, str], list[PolicyPath]]) -> bool:
    near = patterns.get((len(path), path[0])) if path else None
    return near is not None and any(all(a in ("*", b) for a, b in zip(p, path, strict=True)) for p in near)
