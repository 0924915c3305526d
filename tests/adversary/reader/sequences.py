"""Random runs, one after the other, against one ledger: from a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from adversary.reader.policies import (
    ATTRIBUTES,
    KEY,
    SENSITIVE,
    VALUES,
    Options,
    Row,
    random_clauses,
    random_rows,
    random_step,
)

OTHER_KEY = "ADVERSARY_OTHER_KEY"
LEDGER = "releases.ledger"
PERSON = "person"

Step = tuple[str, Options]


@dataclass(frozen=True)
class SequenceRun:
    """One run: its policy, and its table. ``numbers`` are those of the rows, the same in all runs."""

    policy: dict[str, Any]
    rows: list[Row]
    numbers: list[int]


@dataclass(frozen=True)
class RunSequence:
    """Runs against one ledger; ``family`` says how they differ."""

    number: int
    family: str
    runs: list[SequenceRun]


@dataclass
class World:
    """What a sequence is drawn from: its attributes, and the table as it is at the moment."""

    draw: Random
    attributes: dict[str, Any]
    known: list[str]
    rows: list[Row]
    numbers: list[int]
    people: bool

    @property
    def names(self) -> list[str]:
        """The attributes but for that of people."""
        return [n for n in self.attributes if n != PERSON]

    def change_people(self) -> None:
        """Let some people leave, and others come."""
        draw, persons = self.draw, sorted({row[PERSON] for row in self.rows})
        leaving = set(draw.sample(persons, max(0, min(len(persons) - 3, draw.choice((0, 1, 1, 2))))))
        kept = [i for i, row in enumerate(self.rows) if row[PERSON] not in leaving]
        coming = [] if leaving and draw.random() < 0.4 else self._more_rows(draw.choice((1, 1, 2)))
        first = max(self.numbers) + 1
        self.rows = [*(self.rows[i] for i in kept), *coming]
        self.numbers = [*(self.numbers[i] for i in kept), *range(first, first + len(coming))]

    def _more_rows(self, number: int) -> list[Row]:
        used = {n: sorted({row[n] for row in self.rows}) for n in self.names}
        return [
            {**{n: self.draw.choice(own) for n, own in used.items()}, PERSON: f"q{max(self.numbers) + i}"}
            for i in range(number)
        ]

    def change_values(self) -> None:
        """Let a value or two of somebody change, be it to one that nobody had."""
        self.rows = [dict(row) for row in self.rows]
        for row in self.draw.sample(self.rows, self.draw.choice((1, 1, 2))):
            name = self.draw.choice(self.names)
            used = sorted({other[name] for other in self.rows})
            row[name] = self.draw.choice(used if self.draw.random() < 0.8 else VALUES[name])

    def shuffle_rows(self) -> None:
        """Bring the table in another order."""
        order = self.draw.sample(range(len(self.rows)), len(self.rows))
        self.rows, self.numbers = [self.rows[i] for i in order], [self.numbers[i] for i in order]


def random_sequence(number: int) -> RunSequence:
    """The sequence of a number, always the same."""
    draw = Random(f"ledger {number}")
    family = list(FAMILIES)[number % len(FAMILIES)]
    people = draw.random() < 0.25
    known = sorted(draw.sample(("job", "zip", "age"), draw.choice((1, 2, 2))))
    names = [*known, SENSITIVE, *(["note"] if draw.random() < 0.4 else [])]
    attributes = {n: ATTRIBUTES[n] for n in names} | {PERSON: {"role": "subject" if people else "identifier"}}
    rows = random_rows(draw, [*names, PERSON], draw.randint(6, 7 if people else 9), people=people)
    if not people:
        rows = [{**row, PERSON: f"p{i}"} for i, row in enumerate(rows)]
    world = World(draw, attributes, known, rows, list(range(len(rows))), people)
    count = draw.choice((2, 2, 2, 3, 3, 4))
    plans = FAMILIES[family](world, count)
    clauses = _clauses(world)
    runs = []
    for i, steps in enumerate(plans):
        if i and (family == "people" or draw.random() < 0.1):
            world.change_people()
        if i and (family == "values" or draw.random() < 0.1):
            world.change_values()
        if i and draw.random() < 0.5:
            world.shuffle_rows()
        if draw.random() < 0.4:
            clauses = _clauses(world)
        asked = "none" if i == 0 and draw.random() < 0.6 else clauses  # what is withheld is not in the ledger
        runs.append(SequenceRun(_policy(world, number, i, steps, asked), list(world.rows), list(world.numbers)))
    return RunSequence(number, family, runs)


def _policy(world: World, number: int, run: int, steps: Sequence[Step], clauses: Options | str) -> dict[str, Any]:
    named, place = {}, "source"
    for i, (use, options) in enumerate(steps, 1):
        named[f"s{i}"] = {"use": use, "input": place, "with": options}
        place = f"s{i}"
    return {
        "version": "1",
        "name": f"run-{run}",
        "source": {"path": "data.csv", "format": "csv"},
        "ledger": {"path": f"../{LEDGER}", "subject": PERSON},
        "attributes": world.attributes,
        "nulls": world.draw.choice(("own_category", "own_category", "own_category", "exclude", "wildcard")),
        "privacy": clauses,
        "steps": named,
        "releases": {"r": {"from": place, "path": "r.csv"}},
        "randomness": {"mode": "reproducible", "seed": str(10 * number + run)},
        **({"people": {"known_rows": world.draw.choice("112")}} if world.people else {}),
    }


def _clauses(world: World) -> Options:
    """One requirement or two on groups of rows or people."""
    draw, known = world.draw, world.known
    values = sorted({row[SENSITIVE] for row in world.rows} - {""})
    if not values or draw.random() < 0.7:
        return random_clauses(draw, set(values), known)
    delta = {"delta_disclosure": {SENSITIVE: {"delta": draw.choice(("1", "1.5"))}}}
    lkc = {"lkc": {"l": draw.choice("12"), "k": "2", "c": "0.8", "sensitive": {SENSITIVE: [draw.choice(values)]}}}
    return draw.choice((delta, lkc))


def _drawn(world: World, number: int, uses: Sequence[str] = (), columns: Sequence[str] = ()) -> list[Step]:
    steps, left = [], list(columns or world.attributes)
    for _ in range(number):
        use, options, left = random_step(world.draw, left, world.known, uses)
        steps.append((use, options))
    return steps


def _pseudonym(world: World, attribute: str = PERSON) -> Step:
    key, scope = world.draw.choice((KEY, KEY, KEY, OTHER_KEY)), world.draw.choice(("one", "one", "two"))
    return "pseudonymize", {"attributes": [attribute], "key_env": key, "scope": scope}


def _some_dropped(world: World) -> list[Step]:
    names = world.names
    gone = world.draw.sample(names, world.draw.randint(1, len(names) - 1))
    return [("drop", {"attributes": gone})]


def _same_columns(world: World, count: int) -> list[list[Step]]:
    steps = _drawn(world, world.draw.choice((1, 1, 2)))
    return [steps] * count


def _other_columns(world: World, count: int) -> list[list[Step]]:
    plans, joined = [], world.draw.random() < 0.5
    for _ in range(count):
        steps = _some_dropped(world)
        left = [n for n in world.names if n not in steps[0][1]["attributes"]]
        if joined:
            steps = [_pseudonym(world), *steps]
        plans.append(steps + (_drawn(world, 1, columns=left) if world.draw.random() < 0.4 else []))
    return plans


def _coarse(world: World, coarseness: int) -> list[Step]:
    """Labels of some attributes, the coarser the higher ``coarseness`` is; 0 is the values themselves."""
    draw, steps = world.draw, []
    for name in world.names:
        if coarseness == 0 or draw.random() < 0.3:
            continue
        if name in ("job", "zip", "age", SENSITIVE) and draw.random() < 0.6:
            level = min(coarseness, 2) if name == "zip" else 1
            steps.append(("generalize", {"attributes": {name: {"level": str(level)}}}))
        elif name != "age":
            values = draw.sample(VALUES[name], min(1 + coarseness, len(VALUES[name])))
            steps.append(
                ("recode", {"attributes": {name: {"values": dict.fromkeys(values, "H"), "keep_others": "true"}}})
            )
    return steps


def _finer(world: World, count: int) -> list[list[Step]]:
    kept = [_pseudonym(world)] if world.draw.random() < 0.3 else []
    levels = sorted((world.draw.choice((0, 1, 1, 2)) for _ in range(count)), reverse=True)
    return [[*kept, *(_some_dropped(world) if world.draw.random() < 0.3 else _coarse(world, n))] for n in levels]


def _coarser(world: World, count: int) -> list[list[Step]]:
    return _finer(world, count)[::-1]


def _any(world: World, count: int) -> list[list[Step]]:
    plans = world.draw.choice((_same_columns, _other_columns, _pseudonyms, _finer, _coarser, _drawn_apart))
    return plans(world, count)


def _drawn_apart(world: World, count: int) -> list[list[Step]]:
    return [_drawn(world, world.draw.choice((1, 1, 2))) for _ in range(count)]


def _pseudonyms(world: World, count: int) -> list[list[Step]]:
    plans = []
    for _ in range(count):
        steps = [_pseudonym(world)]
        if world.draw.random() < 0.3:
            steps.append(_pseudonym(world, world.draw.choice(world.names)))
        if world.draw.random() < 0.7:
            steps += _some_dropped(world)
        plans.append(steps)
    return plans


def _noise(world: World, count: int) -> list[list[Step]]:
    uses = ("add_noise", "pram", "rank_swap", "swap", "sample", "microaggregation")
    plans = []
    for _ in range(count):
        kept = [_pseudonym(world)] if world.draw.random() < 0.3 else []
        drop = _some_dropped(world) if world.draw.random() < 0.5 else []
        left = [n for n in world.names if not drop or n not in drop[0][1]["attributes"]]
        usable = [u for u in uses if u not in ("add_noise", "rank_swap") or "age" in left]
        usable = [u for u in usable if u != "pram" or SENSITIVE in left]
        usable = [u for u in usable if u != "swap" or len(left) > 1]
        usable = [u for u in usable if u != "microaggregation" or set(left) & set(world.known)]
        plans.append([*kept, *drop, *_drawn(world, 1, usable, left)])
    return plans


FAMILIES: dict[str, Callable[[World, int], list[list[Step]]]] = {
    "same": _same_columns,
    "columns": _other_columns,
    "finer": _finer,
    "coarser": _coarser,
    "people": _any,
    "values": _any,
    "pseudonyms": _pseudonyms,
    "noise": _noise,
}
