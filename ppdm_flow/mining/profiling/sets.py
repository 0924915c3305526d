"""A column of sets in figures, without its items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.identifiers.cells import is_iban, is_national, normalized, seen
from ppdm_flow.mining.identifiers.patterns import Identifier
from ppdm_flow.tables.sets import Baskets

_FORMS: dict[Identifier, str] = {
    "emails": "e-mail addresses",
    "phones": "phone numbers",
    "faxes": "fax numbers",
    "social_security": "social security numbers",
    "medical_records": "medical record numbers",
    "health_plans": "numbers of health plans",
    "accounts": "account or card numbers",
    "ip_addresses": "IP addresses",
}
"""Forms of items that point to a person, and to nothing that is bought, read or diagnosed."""
_CHECKED = re.compile(r"(?=.*[0-9]).{9,}")
"""What may be an account, a national number or a UUID."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BY_CHANCE = 0.3
"""Of long numbers, the share whose check digits must fit: those of a tenth of all product numbers do."""
_ENOUGH = 20
"""Sets from which on it is a sign that each has one item of a kind."""
_NEARLY_ALL = 0.9
_MOST_OCCURRENCES = 0.8
_RARE = 20
"""Sets that have an item which hardly any other has; in small data a tenth of them."""
_DIGITS = 3
_OF_ROWS = 0.05


@dataclass(frozen=True, slots=True)
class SetFacts:
    """What ``rows`` sets of ``items`` different ones look like.

    ``alone`` of them have an item that no other set has; so many have the ``most_frequent`` one; ``empty`` have none.
    ``telling`` says why some items look like identifiers of people, and is empty where none do.
    """

    rows: int
    items: int
    mean_size: float
    largest: int
    empty: int
    alone: int
    most_frequent: int
    telling: str = ""


def set_facts(column: Baskets) -> SetFacts:
    """Measure a column of one set or more."""
    supports, sizes = column.counts(), column.sizes
    return SetFacts(
        rows=len(column),
        items=int((supports > 0).sum()),
        mean_size=float(sizes.mean()),
        largest=int(sizes.max()),
        empty=int((sizes == 0).sum()),
        alone=len(np.unique(column.rows()[supports[column.items] == 1])),
        most_frequent=int(supports.max(initial=0)),
        telling=next(_telling(column.compact()), ""),
    )


def _telling(column: Baskets) -> Iterator[str]:
    """Yield why items look like identifiers: by their form, or as nearly every set has one of its own."""
    texts = normalized(column.categories)
    masks = seen(texts)
    checked = [text for text in texts.to_pylist() if _CHECKED.fullmatch(text)]
    for kind, name in _FORMS.items():
        if kind in masks and (kind != "accounts" or masks[kind].sum() >= _BY_CHANCE * len(checked)):
            yield f"{int(masks[kind].sum()):,} of its {len(texts):,} items look like {name}"
    numbers = sum(_is_checked(text) for text in checked)
    if numbers and numbers >= _BY_CHANCE * len(checked):
        yield f"{numbers:,} of its {len(texts):,} items look like IBANs, national numbers or UUIDs"
    filled = int((column.sizes > 0).sum())
    if filled < _ENOUGH or 2 * int((column.sizes > 1).sum()) < filled:
        return
    supports = column.counts()
    if supports[supports == 1].sum() >= _MOST_OCCURRENCES * len(column.items):
        yield "nearly every item occurs in one set alone"
    if any(_is_one_each(column, of_shape, filled) for of_shape in _numbered(texts, filled)):
        yield "nearly every set has exactly one item of the same form, with digits, as a customer number is"
    rare = supports <= min(_RARE, filled // 10)
    if _is_one_each(column, rare, filled):
        yield "nearly every set has exactly one item that hardly any other set has, as the name of a person is"


def _is_checked(text: str) -> bool:
    return _UUID.fullmatch(text) is not None or is_iban(text) or is_national(text)


def _is_one_each(column: Baskets, chosen: npt.NDArray[np.bool_], filled: int) -> bool:
    """Whether nearly every set has exactly one of the ``chosen`` items, and there are enough of those."""
    if int(chosen.sum()) < max(_ENOUGH // 2, _OF_ROWS * filled):
        return False
    counts = np.bincount(column.rows()[chosen[column.items]], minlength=len(column))
    return int((counts == 1).sum()) >= _NEARLY_ALL * filled


def _numbered(texts: pa.StringArray, filled: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which items have the same letters and digits at the same places, of forms with three digits or more."""
    shapes = [re.sub(r"[^\W\d_]", "A", re.sub(r"[0-9]", "9", text)) for text in texts.to_pylist()]
    every = np.array(shapes, dtype=object)
    for shape, many in Counter(shapes).items():
        if shape.count("9") >= _DIGITS and max(_ENOUGH // 2, _OF_ROWS * filled) <= many < len(shapes):
            yield every == shape
