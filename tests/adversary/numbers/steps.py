"""Steps with parameters that others do not draw: numbers, dates, intervals and stated matrices."""

from __future__ import annotations

from random import Random

from adversary.steps import FURTHER, Here, Maker, Options, round_values, top_bottom_code
from adversary.tables import NUMBERS

DATE = "seen"


def numbers(here: Here) -> list[str]:
    """Return the columns that still have the numbers or dates of the source."""
    return here.of([*NUMBERS, DATE])


def plain_numbers(here: Here) -> list[str]:
    """Return those without dates."""
    return here.of(NUMBERS)


def add_noise(here: Here) -> Options | None:
    """Noise of every shape and scale, within bounds or not, over one column or several together."""
    draw, names = here.draw, plain_numbers(here)
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    options: Options = {"attributes": chosen}
    how = draw.choice(("sd", "scale", "correlated", "correlated"))
    if how == "sd":
        options["sd"] = draw.choice(("0.01", "1", "20"))
    else:
        options["scale"] = draw.choice(("0.01", "0.1", "1"))
    options |= {"correlated": "true"} if how == "correlated" else {"distribution": draw.choice(("normal", "laplace"))}
    if draw.random() < 0.3:
        options |= {"min": "0", "max": "60", "outside": draw.choice(("reflect", "clamp"))}
    elif draw.random() < 0.3:
        options["keep_moments"] = "true"
    if draw.random() < 0.3:
        options["decimals"] = draw.choice("012")
    return options


def rank_swap(here: Here) -> Options | None:
    """Exchanges with ranks near and far."""
    names = numbers(here)
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    return {"attributes": chosen, "percent": here.draw.choice(("10", "30", "60", "100"))}


def shift_dates(here: Here) -> Options | None:
    """Move dates by some days."""
    names = here.of([DATE])
    if not names:
        return None
    here.changed(names)
    days = here.draw.choice((["-3", "3"], ["-400", "400"], ["1", "2"]))
    return {"attributes": names, "days": days, "zero": here.draw.choice(("true", "false"))}


def interval_bounds(here: Here) -> Options | None:
    """Two numbers in place of an interval."""
    names = [n for n, (a, fresh) in here.columns.items() if a in NUMBERS and not fresh]
    if not names:
        return None
    chosen = here.some(names)
    columns = {n: c for n, c in here.columns.items() if n not in chosen}
    here.columns = columns | {f"{n}{end}": (here.columns[n][0], False) for n in chosen for end in ("_low", "_high")}
    return {"attributes": chosen}


def intervals(here: Here) -> Options | None:
    """Intervals of numbers, so that there are some to have bounds."""
    names = plain_numbers(here)
    if not names:
        return None
    chosen = here.some(names)
    here.changed(chosen)
    rules: list[Options] = [{}, {"round": "20"}, {"intervals": ["0", "30", "100"]}, {"top": "30"}]
    return {"attributes": {n: here.draw.choice(rules) for n in chosen}}


def pram(here: Here) -> Options | None:
    """Randomize by any stated matrix, invariant or not."""
    draw = here.draw
    names = [n for n in here.of([*here.secret, *here.known]) if here.domains.get(here.columns[n][0])]
    names = [n for n in names if here.columns[n][0] not in here.gaps]
    if not names:
        return None
    column = draw.choice(names)
    values = here.domains[here.columns[column][0]]
    here.changed([column])
    invariant = {"invariant": "true"} if draw.random() < 0.4 else {}
    return {"attribute": column, "matrix": {v: _row(draw, v, values) for v in values}, **invariant}


def _row(draw: Random, value: str, values: list[str]) -> dict[str, str]:
    """Return probabilities in eighths that add up to 1."""
    shares = dict.fromkeys(values, 0)
    shares[value] = draw.choice((0, 2, 6, 8))
    while sum(shares.values()) < 8:
        shares[draw.choice(values)] += 1
    return {v: str(n / 8) for v, n in shares.items() if n}


def _further(use: str) -> Maker:
    return FURTHER[use]


MAKERS: dict[str, tuple[str, Maker, int]] = {
    "add_noise": ("add_noise", add_noise, 4),
    "rank_swap": ("rank_swap", rank_swap, 4),
    "shuffle_values": ("shuffle_values", _further("shuffle_values"), 3),
    "swap_records": ("swap_records", _further("swap_records"), 2),
    "round_values": ("round_values", round_values, 4),
    "top_bottom_code": ("top_bottom_code", top_bottom_code, 3),
    "shift_dates": ("shift_dates", shift_dates, 5),
    "intervals": ("generalize", intervals, 3),
    "interval_bounds": ("interval_bounds", interval_bounds, 8),
    "pram": ("pram", pram, 3),
}
"""By name the plugin, what makes its parameters, and how often."""


def step(here: Here) -> tuple[str, Options] | None:
    """Draw one of them that has something to do here; None where none has."""
    left = dict(MAKERS)
    while left:
        names = list(left)
        name = here.draw.choices(names, [left[n][2] for n in names])[0]
        use, maker, _ = left.pop(name)
        options = maker(here)
        if options is not None:
            return use, options
    return None
