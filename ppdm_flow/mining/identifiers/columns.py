"""Personal data in a column, from one pass over its partitions: by single cells, and by the column as a whole.

A single cell shows an e-mail address. A number of nine digits counts as a national number only where nearly all values
of the column are such numbers, and a code is a person's own where nearly no two rows share one. The former are counted
in all cells. The latter are judged by a sample of the different values, which has all values of columns with few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.identifiers.cells import (
    Mask,
    cards,
    is_iban,
    is_national,
    is_prose,
    matching,
    matching_any,
    names,
    national,
    normalized,
    shaped,
)
from ppdm_flow.mining.identifiers.check_digits import CHECKED_NATIONAL
from ppdm_flow.mining.identifiers.patterns import (
    CARD_FORM,
    DRUG_CODE,
    IBAN_FORM,
    MASKED_CARD,
    MASKED_IBAN,
    NATIONAL_FORM,
    PATTERNS,
    PRODUCTS,
)
from ppdm_flow.tables.text_hash import text_hashes

WORDS: Mapping[str, str] = {
    "emails": "e-mail addresses",
    "phones": "telephone numbers",
    "cards": "numbers of payment cards",
    "ibans": "bank accounts (IBAN)",
    "social_security": "social security numbers",
    "national_ids": "national identifiers",
    "names": "names of people",
    "free_text": "free text",
    "unique_codes": "codes that nearly every row has for itself",
    "unique_weights": "weights that nearly every row has for itself",
}
"""The kinds of personal data that are looked for, in words."""
SAMPLE = 1024
"""Different values that what only a column tells is judged by."""

_CELLS = ("emails", "phones", "cards", "ibans", "social_security", "names", "national_ids")
_CHECKED = ("cards", "ibans", "national_ids")
"""Kinds of numbers with a check digit, which some codes fit by chance."""
_BY_CHANCE = 0.5
"""The share of numbers of the form whose check digit must fit."""
_KNOWN = 1 << 20
"""Values whose kinds are remembered from one partition to the next."""
_LONGEST = 400
"""Characters of a sampled value that are kept."""
_ROWS, _ALONE = 20, 0.9
"""Rows from which on a column can be of codes, and the share of them whose value no other row has."""
_FEWEST_TEXTS, _FEWEST_NUMBERS, _FEWEST_CHECKED, _FEWEST_NAMES = 5, 5, 3, 3
_CURRENCY = "[$€£¥]|(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|TRY)"
_NUMBER = (
    rf"^(?:{_CURRENCY})? ?[+-]?[0-9][0-9., ']*(?:[eE][+-]?[0-9]+)?(?: ?[%°‰$€£¥]| ?[A-Za-zµ]{{1,3}}(?:/[a-z]+)?)?$"
)
_TIME = (
    r"^[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}(?:[T ].*)?$|^[0-9]{1,2}:[0-9]{2}|^1[0-9]{9}(?:[0-9]{3}){0,3}$|"
    r"^-?P(?:[0-9.]+[YMWD])*(?:T(?:[0-9.]+[HMS])+)?$"
)
_BAND = (
    rf"^(?:{_CURRENCY})? ?-?[0-9.]+ ?(?:-|\.\.|[,;/:x]|to) ?-?[0-9.]+[\])]?(?: ?(?:%|{_CURRENCY})| [A-Za-zµ]{{1,3}})?$"
)
_LABEL = rf"^[\[(<>≤≥{{]|{_BAND}|\*"
_POSTAL_CODE = r"^(?:[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}|[A-Z][0-9][A-Z] [0-9][A-Z][0-9]|[0-9]{4} [A-Z]{2})$"
"""Postal codes with a blank: of the United Kingdom, of Canada, of the Netherlands."""
_TOWN = r"^[0-9]{4,5} [A-ZÀ-ÖØ-Þ][^0-9]+$"
"""A postal code and a town, or a number and a name."""
_COLOUR = r"^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$"
_CODE_OF_DIGITS = r"^[0-9]{8,}(?:\.0)?$"
_LONG_CODE = re.compile(r"(?=(?:\D*\d){7})[0-9A-Za-z](?:[ ./_-]?[0-9A-Za-z]){7,17}")
_DECIMAL = re.compile(r"\d+[.]\d+")
_SIGN = re.compile(r"[^0-9A-Za-z]|[Xx](?!.*[^0-9A-Za-z])")
_NAME = re.compile(r"[^\W\d_]+(?:[ ',.-]+[^\W\d_]+)*\.?")

Content = Literal["texts", "numbers", "weights", "items"]
"""What a column holds: of numbers the whole ones are looked at, of weights nothing but how many share one."""
_LONG_NUMBER = r"^[0-9]{7,}$"
"""A whole number as long as identifiers are; the zeros at the front of a number are lost."""
_NAMED = {"phone": "phones", "national_id": "national_ids", "card": "cards", "iban": "ibans"}
"""Kinds of numbers that the name of a column tells."""

Counts = npt.NDArray[np.int64]


@dataclass(slots=True)
class ColumnScan:
    """The observations on one column. ``key`` has 16 bytes, the same for all scans that are added up.

    ``cells`` has the rows of each kind, ``formed`` those of numbers of its form, ``some`` hashes of up to three
    different values. ``hashes``, ``rows`` and ``texts`` are the sample: the different values with the smallest hashes.
    """

    key: bytes
    content: Content = "texts"
    present: int = 0
    cells: dict[str, int] = field(default_factory=dict)
    formed: dict[str, int] = field(default_factory=dict)
    some: dict[str, set[int]] = field(default_factory=dict)
    hashes: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    rows: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    texts: dict[int, str] = field(default_factory=dict)
    full: bool = False
    _known: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint16]] | None = None

    def take(self, texts: pa.StringArray, rows: Counts) -> None:
        """Take in different texts, none of them null, with how many rows have each."""
        used = rows > 0
        if not used.any():
            return
        texts, rows = texts.filter(pa.array(used)), rows[used]
        self.present += int(rows.sum())
        hashes = text_hashes(texts, self.key)
        kinds = np.zeros(len(texts), dtype=np.uint16)
        if self.content != "weights":
            kinds = self._kinds(texts, hashes)
        if self.content == "numbers":
            kinds[~matching(texts, _LONG_NUMBER)] = 0
        for place, kind in enumerate(_CELLS):
            hit = (kinds >> place) & 1 == 1
            self._count(kind, int(rows[hit].sum()), set(hashes[hit][:_FEWEST_NAMES].tolist()))
        for place, kind in enumerate(_CHECKED, len(_CELLS)):
            self.formed[kind] = self.formed.get(kind, 0) + int(rows[(kinds >> place) & 1 == 1].sum())
        smallest = np.argsort(hashes, kind="stable")[:SAMPLE]
        sample_texts = texts.take(pa.array(smallest)).to_pylist()
        kept = {h: t[:_LONGEST] for h, t in zip(hashes[smallest].tolist(), sample_texts, strict=True)}
        self._sample(hashes[smallest], rows[smallest], kept, full=self.full or len(hashes) > SAMPLE)

    def add(self, later: ColumnScan) -> None:
        """Take in what another scan under the same key has seen of other rows."""
        self.present += later.present
        for kind in _CELLS:
            self._count(kind, later.cells.get(kind, 0), later.some.get(kind, set()))
        for kind in _CHECKED:
            self.formed[kind] = self.formed.get(kind, 0) + later.formed.get(kind, 0)
        self._sample(later.hashes, later.rows, later.texts, full=self.full or later.full)

    def forget(self) -> ColumnScan:
        """Return it without what only makes it faster, to be sent elsewhere."""
        self._known = None
        return self

    def personal(self, name: str | None = None) -> dict[str, int]:
        """Return the kinds of personal data that the column shows, with the rows of each, as far as they are counted.

        ``name``: the kind that its name tells (:func:`..words.named`).
        """
        rows_by_kind = {kind: n for kind, n in self.cells.items() if n and self._is_told(kind)}
        if not self.texts:
            return rows_by_kind
        texts = normalized(pa.array([self.texts[h] for h in self.hashes.tolist()], pa.string()))
        if self.content == "weights":
            unique = self.present >= _ROWS and self.alone >= _ALONE
            return {"unique_weights": self.present} if unique else {}
        if self.content == "numbers":
            rows_by_kind |= self._of_numbers(texts, name, rows_by_kind)
        else:
            rows_by_kind |= self._of_texts(texts, name, rows_by_kind)
        return {kind: rows_by_kind[kind] for kind in WORDS if kind in rows_by_kind}

    def _of_texts(self, texts: pa.StringArray, name: str | None, rows_by_kind: Mapping[str, int]) -> dict[str, int]:
        words, more = texts.to_pylist(), dict[str, int]()
        numbers = [word for word in words if _LONG_CODE.fullmatch(word) and not _DECIMAL.fullmatch(word)]
        checked = len(numbers) >= _FEWEST_CHECKED and national(numbers, CHECKED_NATIONAL) is not None
        if checked or (len(words) >= _FEWEST_NUMBERS and national(words) is not None):
            if not {"social_security", "national_ids"} & rows_by_kind.keys():
                more["national_ids"] = self.present
        elif len(words) >= _FEWEST_NUMBERS and "phones" not in rows_by_kind and (shaped(words) or ("",))[0] == "phone":
            more["phones"] = self.present
        if name == "name" and "names" not in rows_by_kind and len(words) > _FEWEST_TEXTS and _most_are_names(words):
            more["names"] = self.present
        if self._is_free(words):
            more["free_text"] = self.present
        elif not (rows_by_kind or more) and self.content == "texts" and self._is_code(texts):
            more["unique_codes"] = self.present
        return more

    def _of_numbers(self, texts: pa.StringArray, name: str | None, rows_by_kind: Mapping[str, int]) -> dict[str, int]:
        long = matching(texts, _LONG_NUMBER)
        long_numbers = texts.filter(pa.array(long)).to_pylist()
        share = float(self.rows[long].sum()) / len(self.rows) * self.distinct / self.present
        if rows_by_kind or len(long_numbers) < _FEWEST_CHECKED or share < _ALONE:
            return {}
        longest = max(map(len, long_numbers))
        if (
            national(long_numbers) is not None
            or national([number.zfill(longest) for number in long_numbers]) is not None
        ):
            return {"national_ids": self.present}
        if name in _NAMED:
            return {_NAMED[name]: self.present}
        return {"unique_codes": self.present} if self._is_code(texts) else {}

    @property
    def distinct(self) -> float:
        """How many different values there are, estimated where they are more than the sample."""
        if not self.full or len(self.hashes) < SAMPLE:
            return float(len(self.hashes))
        return (SAMPLE - 1) * 2.0**64 / float(self.hashes[-1])

    @property
    def alone(self) -> float:
        """The share of the rows whose value no other row has, estimated likewise."""
        if not self.present:
            return 0.0
        return min(1.0, float((self.rows == 1).mean()) * self.distinct / self.present)

    def _is_told(self, kind: str) -> bool:
        if kind in _CHECKED:
            return self.cells[kind] >= _BY_CHANCE * self.formed.get(kind, 0)
        if kind == "names":  # a product may be called like a person
            return len(self.some[kind]) >= min(_FEWEST_NAMES, max(1.0, self.distinct / 2))
        return True

    def _is_free(self, words: Sequence[str]) -> bool:
        share = sum(map(is_prose, words)) / len(words)
        return len(words) >= _FEWEST_TEXTS and share >= _BY_CHANCE and self.alone >= _BY_CHANCE

    def _is_code(self, texts: pa.StringArray) -> bool:
        if self.present < _ROWS or self.alone < _ALONE:
            return False
        plain = matching(texts, _NUMBER) | matching(texts, _TIME) | matching(texts, _LABEL)
        plain |= matching_any(texts, PATTERNS["dates"])
        plain |= matching(texts, _POSTAL_CODE) | (matching(texts, _COLOUR) & matching(texts, "[A-Fa-f]"))
        towns = matching(texts, _TOWN)
        names_of_towns = pc.unique(pc.replace_substring_regex(texts.filter(pa.array(towns)), "^[0-9]+", ""))
        if len(names_of_towns) <= _BY_CHANCE * towns.sum():  # names of people would differ
            plain |= towns
        digits = matching(texts, _CODE_OF_DIGITS) & ~matching(texts, _TIME) & ~matching_any(texts, PATTERNS["dates"])
        lengths = pc.utf8_length(texts.filter(pa.array(digits)))
        if digits.mean() >= _ALONE and len(pc.unique(lengths)) == 1:
            return True
        return float((~plain).mean()) >= _ALONE

    def _count(self, kind: str, rows: int, some: set[int]) -> None:
        self.cells[kind] = self.cells.get(kind, 0) + rows
        both = self.some.get(kind, set()) | some
        self.some[kind] = set(sorted(both)[:_FEWEST_NAMES])

    def _sample(self, hashes: npt.NDArray[np.uint64], rows: Counts, texts: Mapping[int, str], *, full: bool) -> None:
        """Join two samples: a value among the smallest in the end was so wherever it occurred, so rows add up."""
        every, place = np.unique(np.concatenate([self.hashes, hashes]), return_inverse=True)
        counts = np.bincount(place, np.concatenate([self.rows, rows]), len(every)).astype(np.int64)
        self.full = full or len(every) > SAMPLE
        self.hashes, self.rows = every[:SAMPLE], counts[:SAMPLE]
        self.texts = {h: texts[h] if h in texts else self.texts[h] for h in self.hashes.tolist()}

    def _kinds(self, texts: pa.StringArray, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint16]:
        """Return a bit for each kind of each text; texts that were seen before are not looked at again."""
        if self._known is None:
            kinds = _kinds_of(normalized(texts))
            order = np.argsort(hashes, kind="stable")
            self._known = hashes[order], kinds[order]
            return kinds
        known, of_known = self._known
        places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        new = known[places] != hashes
        kinds = of_known[places]
        if new.any():
            kinds[new] = _kinds_of(normalized(texts.filter(pa.array(new))))
            if len(known) < _KNOWN:
                both = np.concatenate([known, hashes[new]])
                order = np.argsort(both, kind="stable")
                self._known = both[order], np.concatenate([of_known, kinds[new]])[order]
        return kinds


def _kinds_of(texts: pa.StringArray) -> npt.NDArray[np.uint16]:
    """Return a bit for each kind that a normalized text shows, and for each form of a number with a check digit."""
    bare = pc.replace_substring(texts, " ", "")
    masked_cards, masked_ibans = matching(bare, MASKED_CARD), matching(bare, MASKED_IBAN)
    accounts = pc.replace_substring_regex(texts, "(?i)iban", " ")
    ibans, nationals = matching(accounts, IBAN_FORM), matching(texts, NATIONAL_FORM)
    masks: tuple[Mask, ...] = (
        matching_any(texts, PATTERNS["emails"]),
        matching_any(texts, PATTERNS["phones"]) & ~matching(texts, DRUG_CODE),
        cards(texts) | masked_cards,
        _checked(accounts, ibans, f"(?P<number>{IBAN_FORM})", _begins_with_iban) | _fits_some_digit(bare, masked_ibans),
        matching_any(texts, PATTERNS["social_security"]),
        names(pc.replace_substring_regex(texts, PRODUCTS, " ")),
        _checked(texts, nationals, NATIONAL_FORM, is_national),
        matching(texts, CARD_FORM) | masked_cards,
        ibans | masked_ibans,
        nationals,
    )
    kinds = np.zeros(len(texts), dtype=np.uint16)
    for place, mask in enumerate(masks):
        kinds |= mask.astype(np.uint16) << np.uint16(place)
    return kinds


def _checked(texts: pa.StringArray, formed: Mask, form: str, fits: Callable[[str], bool]) -> Mask:
    """Return which texts have a number of a form, its group ``number``, that its check digits fit."""
    fitting = np.zeros(len(texts), dtype=bool)
    places = np.flatnonzero(formed)
    if len(places):
        numbers = pc.extract_regex(texts.take(pa.array(places)), form).field("number").to_pylist()
        fitting[places] = [fits(number) for number in numbers]
    return fitting


def _begins_with_iban(number: str) -> bool:
    return any(is_iban(number[: len(number) - cut]) for cut in range(5))


def _fits_some_digit(texts: pa.StringArray, formed: Mask) -> Mask:
    """Return which texts are a bank account with some digit in the place of their one sign, which is no secret then."""
    fitting = np.zeros(len(texts), dtype=bool)
    places = np.flatnonzero(formed)
    if len(places):
        masked = texts.take(pa.array(places)).to_pylist()
        fitting[places] = [any(is_iban(_SIGN.sub(digit, text, count=1)) for digit in "0123456789") for text in masked]
    return fitting


def _most_are_names(words: Sequence[str]) -> bool:
    fitting = sum(_NAME.fullmatch(word) is not None and word[:1].isupper() for word in words)
    return fitting >= _ALONE * len(words)
