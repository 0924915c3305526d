"""Invented data for the scaffold: the same on every machine."""

from __future__ import annotations

import random

_VISITS = 4_000
_ORDERS = 20_000
_SEED = 7
_REGIONS = ("coast", "hills", "town", "valley")
_ILLNESSES = ("asthma", "back pain", "diabetes", "flu", "injury", "migraine")
_PRODUCTS = (
    *("apples", "bananas", "beans", "bread", "butter", "candles", "cheese", "chocolate", "cocoa", "coffee"),
    *("cream", "eggs", "flour", "garlic", "honey", "jam", "lentils", "matches", "milk", "mustard"),
    *("noodles", "nuts", "olives", "onions", "pepper", "rice", "salt", "soap", "tea", "wine"),
)
_TOGETHER = (
    *(("bread", "butter"), ("coffee", "milk"), ("bread", "jam", "tea"), ("cheese", "wine"), ("eggs", "flour")),
    *(("noodles", "cheese"), ("rice", "beans", "onions"), ("cocoa", "milk"), ("apples", "honey"), ("olives", "wine")),
)


def visits() -> str:
    """Return invented visits as CSV: older people have other illnesses, and return more often."""
    dice = random.Random(_SEED)  # noqa: S311  # an invented table, not a secret
    lines = ["patient,age,region,illness,returned"]
    for number in range(_VISITS):
        age = dice.randint(18, 89)
        weights = (3, 4, 1 + age // 20, 5, 3, 3)
        illness = dice.choices(_ILLNESSES, weights)[0]
        returned = "yes" if dice.random() < 0.1 + age / 150 else "no"
        lines.append(f"P{number:04},{age},{dice.choice(_REGIONS)},{illness},{returned}")
    return "\n".join(lines) + "\n"


def orders() -> str:
    """Return invented orders, one a line: some products are often bought together, any other one now and then."""
    dice = random.Random(_SEED)  # noqa: S311  # invented orders, not a secret
    lines = []
    for _ in range(_ORDERS):
        basket = set(dice.choice(_TOGETHER)) if dice.random() < 0.6 else set()
        basket |= {dice.choice(_PRODUCTS) for _ in range(dice.randint(1, 2))}
        lines.append(",".join(sorted(basket)))
    return "\n".join(lines) + "\n"
