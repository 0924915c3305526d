"""Write `pharmacy.csv.gz`: 60,000 invented orders of an online pharmacy, one a line, as many products as it has.

    python pipelines/data/make_pharmacy.py

Nobody ordered any of it. Orders are made by the generator of transactions beside this file, for one key, so that the
file is the same bytes on every machine.
"""

from __future__ import annotations

import gzip
import itertools
import sys
from pathlib import Path

from quest import Quest, quest

KEY = 45
ORDERS = Quest(
    60_000, 40, length=2.2, longest=8, patterns=120, pattern_length=1.8, correlation=0.3, popularity=0.4, weight=1.0
)
PRODUCTS = (
    "paracetamol",
    "ibuprofen",
    "cough syrup",
    "nasal spray",
    "throat lozenges",
    "vitamin D",
    "sun cream",
    "antihistamine",
    "eye drops",
    "plasters",
    "zinc tablets",
    "magnesium",
    "hand cream",
    "thermometer",
    "sleep aid",
    "valerian",
    "antacid",
    "laxative",
    "probiotic",
    "folic acid",
    "pregnancy test",
    "prenatal vitamins",
    "nicotine patches",
    "nicotine gum",
    "test strips",
    "lancets",
    "insulin needles",
    "glucose tablets",
    "incontinence pads",
    "barrier cream",
    "support stockings",
    "heparin gel",
    "lice shampoo",
    "antifungal cream",
    "wart treatment",
    "hair loss lotion",
    "iron tablets",
    "migraine relief",
    "emergency contraceptive",
    "condoms",
)


def document(wanted: Quest = ORDERS, key: int = KEY) -> bytes:
    """Return the file's text as bytes."""
    lines = []
    for block in quest(wanted, key):
        bounds, items = block.offsets.tolist(), block.items.tolist()
        lines += [",".join(PRODUCTS[i] for i in items[begin:end]) for begin, end in itertools.pairwise(bounds)]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write the file beside this module."""
    target = Path(__file__).with_name("pharmacy.csv.gz")
    target.write_bytes(gzip.compress(document(), mtime=0))
    sys.stdout.write(f"{target.name}: {ORDERS.rows} orders\n")


if __name__ == "__main__":
    main()
