"""Spells values, names and quotations, and finds them in texts."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, takewhile
from typing import Any
from unicodedata import east_asian_width

from ppdm_flow.core.results import Chart, Figure, Finding
from ppdm_flow.core.roles import AttributeType

MARK = "\N{REPLACEMENT CHARACTER}"
"""Replaces a character that cannot be shown."""

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_OBEYED = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff]")
_IN_LINE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff]")
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


# Text that people see: what a terminal or a browser would obey instead of show is made visible.


def visible(text: str) -> str:
    """Return the text with U+FFFD for each control character (but tab and line end) and each that turns the writing.

    Those are the escapes of terminals, and the embeddings, overrides and isolates of Unicode's UAX 9.
    """
    return _OBEYED.sub(MARK, text)


def visible_line(text: str) -> str:
    """Return :func:`visible` of a text that has to stay on its line: tabs and line ends are marked, too."""
    return _IN_LINE.sub(MARK, text)


def visible_colored(text: str) -> str:
    """Return :func:`visible` of a text in which our own colours stand."""
    colors = [*_COLOR.findall(text), ""]
    return "".join(visible(piece) + color for piece, color in zip(_COLOR.split(text), colors, strict=True))


def escaped(quoted: str) -> str:
    """Return a text whose strings stand in double quotes, as JSON's and YAML's, with such characters as escapes."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def is_text(text: str) -> bool:
    """Whether it can be written: half of a surrogate pair, which JSON can escape, is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_text(value: Any) -> str:
    """Return a document as JSON for files and terminals, ending with a newline. Raises ValueError for NaN."""
    return escaped(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


# Names of files: those that stand beside a released file, and those that some systems cannot have.


DICTIONARY = "dictionary.json"
OPERATOR = "operator.json"
CONTRACT = "mining_contract.json"
SHEET_MARKDOWN = "datasheet.md"
SHEET_HTML = "datasheet.html"
BESIDE = (DICTIONARY, OPERATOR, CONTRACT, SHEET_MARKDOWN, SHEET_HTML)
"""What a run writes into a release's folder, beside the released file."""

INTERNAL = "internal"
"""The folder of a run with what its owner alone may read, and no recipient of a release."""

ATTESTATIONS = "attestations"
"""The folder of signatures, beside the released file."""

_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_REFUSED = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\u2028\u2029]')
_LONGEST = 255


def beside(part: str) -> str | None:
    """Return the file beside a release that ``part`` of a path would be, on systems that read A as a, too."""
    folded = part.casefold()
    if folded == ATTESTATIONS:
        return ATTESTATIONS
    return next((name for name in BESIDE if folded == name or folded.endswith(f"-{name}")), None)


def refused(part: str) -> str | None:
    """Return why some system cannot have a file or folder of that name; None where all can."""
    if match := _REFUSED.search(part):
        character = "a backslash" if match[0] == "\\" else f"U+{ord(match[0]):04X}"
        return f"holds {character}, which file names of some systems cannot have"
    if _DEVICE.fullmatch(part):
        return "is the name of a device on Windows"
    if part.endswith((".", " ")) or part.startswith(" "):
        return "begins or ends with a blank, or ends with a dot, which Windows drops"
    if len(part.encode(errors="surrogatepass")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    return None


def alike(names: Iterable[str]) -> dict[str, str]:
    """Return the names that are one file with an earlier one where A is a, each with that one."""
    first: dict[str, str] = {}
    return {name: first[name.casefold()] for name in names if first.setdefault(name.casefold(), name) != name}


def quoted(name: str, mark: str = '"') -> str:
    """Return a name as an identifier of SQL."""
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def table_parts(table: str) -> list[str]:
    """Return schema and name; dots inside double quotes are part of a name."""
    parts, inside = [""], False
    for character in table:
        if character == '"':
            inside = not inside
        elif character == "." and not inside:
            parts.append("")
        else:
            parts[-1] += character
    return parts


# The one spelling of a number, date or timestamp: what a policy has to write to name a value of a typed attribute.


_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
)
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
SMALL, LARGE = 1e-6, 1e16
"""Between these a number is written without an exponent."""


def canonical(text: str, kind: AttributeType) -> str | None:
    """Return a typed column's spelling of the value in ``text``, or None where there is none.

    >>> canonical("+07", AttributeType.INTEGER), canonical("1.50", AttributeType.FLOAT)
    ('7', '1.5')
    >>> canonical("2024-02-30", AttributeType.DATE) is None
    True
    """
    if kind is AttributeType.INTEGER:
        return _integer(text)
    if kind is AttributeType.FLOAT:
        return _float(text)
    if kind.is_time:
        return _moment(text, kind)
    return text


def _integer(text: str) -> str | None:
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return str(number) if _LEAST <= number <= _MOST else None


def _float(text: str) -> str | None:
    if not _FLOAT.fullmatch(text):
        return None
    number = float(text)
    return float_text(number) if abs(number) != float("inf") else None


def float_text(number: float) -> str:
    """Return the shortest text that reads back as the same finite number.

    >>> [float_text(x) for x in (10.0, 0.1, 12345678901.5, 1e-05, 1.5e-07, 1e+17, -0.0)]
    ['10', '0.1', '12345678901.5', '0.00001', '1.5e-7', '1e+17', '0']
    """
    if number == 0:
        return "0"
    shortest = repr(float(number))
    if SMALL <= abs(number) < LARGE:
        return format(Decimal(shortest), "f").removesuffix(".0")
    digits, _, exponent = shortest.partition("e")
    return f"{digits}e{'+' if int(exponent) > 0 else ''}{int(exponent)}"


def _moment(text: str, kind: AttributeType) -> str | None:
    if not (_DATE if kind is AttributeType.DATE else _TIMESTAMP).fullmatch(text):
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    if kind is AttributeType.DATE:
        return moment.date().isoformat()
    seconds = moment.replace(microsecond=0).isoformat()
    return seconds + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "")


# How wide text is without a font at hand, on the wide side; text cut or wrapped to a width.


_NARROW = frozenset("iljtfrI.,:;'|!()[]/ ")
_WIDE = frozenset("mwMWOQ@%—→≥≤")


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper estimate of the width of ``text`` in a sans-serif font of ``size`` pixels."""
    return sum(_share(letter) for letter in text) * size * (1.13 if bold else 1.0)


def fixed(text: str, size: float) -> float:
    """Return the width of ``text`` in a font of fixed width."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text) * size * 0.62


def fitted(text: str, size: float, most: float, *, bold: bool = False) -> str:
    """Return the text, cut with an ellipsis where it is wider than ``most``."""
    if width(text, size, bold=bold) <= most:
        return text
    widths = accumulate(map(_share, text))
    ending, share = _share("…"), size * (1.13 if bold else 1.0)
    kept = sum(1 for _ in takewhile(lambda so_far: (so_far + ending) * share <= most, widths))
    return f"{text[:kept].rstrip()}…"


def shortened(text: str, most: int) -> str:
    """Return the text, cut in the middle where it is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def wrapped(text: str, size: float, most: float, lines: int) -> list[str]:
    """Return the text in at most so many lines; the last one is cut where the text is longer."""
    words = text.split()
    wrapped_lines: list[str] = []
    while words and len(wrapped_lines) < lines - 1:
        line = words.pop(0)
        while words and width(f"{line} {words[0]}", size) <= most:
            line += f" {words.pop(0)}"
        wrapped_lines.append(fitted(line, size, most))
    if words:
        wrapped_lines.append(fitted(" ".join(words), size, most))
    return wrapped_lines


def _share(letter: str) -> float:
    if letter in _NARROW:
        return 0.38
    if letter in _WIDE:
        return 0.95
    if letter.isupper():
        return 0.74
    return 1.05 if east_asian_width(letter) in "WF" else 0.62


# Texts that people may read, and what of them may be a value of the data: runs of words that no figure looks like.


def texts(document: Any) -> Iterator[str]:
    """Yield every text of a JSON document, keys too."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, Mapping):
        for key, value in document.items():
            yield str(key)
            yield from texts(value)
    elif isinstance(document, Sequence):
        for value in document:
            yield from texts(value)


def of_figures(figures: Mapping[str, Figure]) -> Iterator[str]:
    """Yield the names, units and notes of figures."""
    for name, figure in figures.items():
        yield from (name, figure.unit, figure.note)


def of_finding(finding: Finding) -> tuple[str, ...]:
    """Return what a finding says."""
    return finding.text, finding.subject, finding.code


def of_chart(chart: Chart) -> tuple[str, ...]:
    """Return what stands in a chart, labels and names of series too."""
    words = (chart.id, chart.title, chart.kind, chart.x_label, chart.y_label, chart.note, chart.group)
    return *words, *map(str, chart.x), *(series.name for series in chart.series)


LONGEST = 64
"""Characters that are compared at once; of a longer value its beginning is looked for first."""
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
_LETTER = re.compile(r"[^\W\d_]")
_PLAIN = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_DIGITS = 6
"""How many digits a value without letters must have to be told from figures, beside a sign between them."""


def spans(text: str) -> Iterator[str]:
    """Yield each run of words in a text that may be a value, up to ``LONGEST`` characters long.

    >>> sorted(spans("in Rome, 7"))
    ['Rome', 'Rome,', 'Rome, 7', 'in', 'in Rome', 'in Rome,', 'in Rome, 7']
    """
    tokens = [(m.start(), m.end()) for m in _TOKEN.finditer(text)]
    for place, (start, _) in enumerate(tokens):
        for _, end in tokens[place:]:
            if end - start > LONGEST:
                break
            if is_telling(text[start:end]):
                yield text[start:end]
        if len(text) - start > LONGEST:
            yield text[start : start + LONGEST]


def is_telling(value: str) -> bool:
    """Whether a value can be told from figures and signs: it has a letter, or is a date, a number with signs in it.

    >>> [is_telling(v) for v in ("HIV", "F", "1,234,567", "2024-01-31", "37")]
    [True, False, False, True, False]
    """
    if _LETTER.search(value):
        return len(value) > 1
    return sum(map(str.isdigit, value)) >= _DIGITS and _PLAIN.fullmatch(value) is None
