"""Measure readings, and look for the one that fits all figures best: one change at a time, pairs, then descent."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from generation import Setting
from misfit import Fit
from printed import PRINTED
from reading_tasks import Figures, Task, originals, tasks, work
from readings import ANSWERS, FREE, TODAY, Reading

FEWER = {"pendigits": 0.4}
MORE = {"iris": 4.0, "led7": 4.0, "nursery": 2.0, "pageblocks": 4.0, "pima": 4.0}
"""Runs of a dataset, as a share of those asked for."""
HOPELESS = 2.0
"""An answer whose misfit alone is so many times today's is not tried in the descent."""
MOST_PAIRED = 4
ALIKE = ({"pruning": True, "compared_pruning": True}, {"closed": True, "compared_closed": True})
"""Answers to two questions that come together where both code tables are found by one program."""
AT_RANDOM = "random-"


@dataclass
class Laboratory:
    """Measures readings on all ``settings`` and keeps every task's outcome."""

    pool: ProcessPoolExecutor
    folder: Path
    settings: Sequence[Setting]
    runs: int
    done: dict[Task, tuple[Figures, float]] = field(default_factory=dict)

    def count(self, setting: Setting) -> int:
        """Return how many runs a dataset has."""
        return max(2, round(self.runs * MORE.get(setting.name, FEWER.get(setting.name, 1.0))))

    def needed(self, reading: Reading) -> list[Task]:
        return [t for s in self.settings for run in range(self.count(s)) for t in tasks(reading, s, run)]

    def measure(self, readings: Iterable[Reading]) -> None:
        """Do the tasks that were not done yet, the longest first; originals that they share before them."""
        new = list(dict.fromkeys(t for r in readings for t in self.needed(r) if t not in self.done))
        for batch in ([o for t in new for o in originals(t)], new):
            todo = sorted(dict.fromkeys(t for t in batch if t not in self.done), key=lambda t: -t.weight)
            self.done.update(zip(todo, self.pool.map(work, [self.folder] * len(todo), todo), strict=True))

    def fit(self, reading: Reading) -> Fit:
        """Return the fit of a reading that was measured."""
        values: dict[str, list[float]] = {}
        seconds = 0.0
        for task in self.needed(reading):
            figures, took = self.done[task]
            seconds += took / self.count(task.setting)
            word = "chess50" if (task.setting.name, task.setting.least) == ("chess", 50) else task.setting.name
            for name, value in figures.items():
                if f"{word}.{name}" in PRINTED:
                    one = value[reading.size, reading.compared_laplace] if isinstance(value, dict) else value
                    values.setdefault(f"{word}.{name}", []).append(one)
        for original in {o for task in self.needed(reading) for o in originals(task)}:
            seconds += self.done[original][1]
        return Fit({name: np.array(each) for name, each in values.items()}, seconds)

    def measured(self, readings: Sequence[Reading]) -> dict[Reading, Fit]:
        self.measure(readings)
        return {reading: self.fit(reading) for reading in readings}

    def freest(self, reading: Reading) -> Reading:
        """Return it with those answers to the questions without cost that fit best."""
        self.measure([reading])
        every = itertools.product(*(ANSWERS[name] for name in FREE))
        return min(
            (replace(reading, **dict(zip(FREE, a, strict=True))) for a in every), key=lambda r: self.fit(r).misfit
        )


def alone(laboratory: Laboratory) -> dict[Reading, Fit]:
    """Measure today's reading and every one with a single other answer."""
    return laboratory.measured([TODAY, *TODAY.neighbours()])


def helpful(singles: dict[Reading, Fit]) -> list[Reading]:
    """Return the readings that lower the misfit alone, the best first, one for each question."""
    today = singles[TODAY]
    best: dict[str, tuple[float, Reading]] = {}
    for reading, fit in singles.items():
        if fit.misfit < today.misfit and not by_chance(reading):
            (question,) = reading.changed(TODAY)
            best[question] = min(best.get(question, (np.inf, reading)), (fit.misfit, reading), key=lambda b: b[0])
    return [reading for _, reading in sorted(best.values(), key=lambda b: b[0])]


def paired(laboratory: Laboratory, singles: dict[Reading, Fit]) -> dict[Reading, Fit]:
    """Measure the pairs of what helps alone, all of that at once, and code tables that are all found alike.

    The questions without cost have their best answers, too.
    """
    chosen = [r.changed(TODAY) for r in helpful(singles)[:MOST_PAIRED]]
    pairs = [replace(TODAY, **a, **b) for a, b in itertools.combinations(chosen, 2)]
    pairs += [replace(TODAY, **answers) for answers in ALIKE]
    together: dict[str, Any] = {}
    for answers in chosen:
        together |= answers
    readings = list(dict.fromkeys([*pairs, replace(TODAY, **together)]))
    laboratory.measure(readings)
    return laboratory.measured(list(dict.fromkeys([*readings, *map(laboratory.freest, readings)])))


def descended(laboratory: Laboratory, singles: dict[Reading, Fit], begin: Reading) -> dict[Reading, Fit]:
    """Change one answer at a time to the one that fits best, until no change helps by a standard error.

    Answers that are given together (``ALIKE``) are tried together, too. For each reading on the way the questions
    without cost have their best answers. The last one is the best.
    """
    today = singles[TODAY].misfit
    hopeless = {r for r, fit in singles.items() if fit.misfit > HOPELESS * today or by_chance(r)}
    barred = {(name, answer) for r in hopeless for name, answer in r.changed(TODAY).items()}
    at = laboratory.freest(begin)
    path = {at: laboratory.fit(at)}
    moves = [
        [{question: answer} for answer in answers if (question, answer) not in barred]
        for question, answers in ANSWERS.items()
        if question not in FREE
    ]
    moves += [[answers] for answers in ALIKE]
    unmoved = 0
    while unmoved < len(moves):
        for move in moves:
            tried = [replace(at, **answers) for answers in move]
            laboratory.measure(tried)
            better = [r for r in map(laboratory.freest, tried) if gains(laboratory, r, at)]
            unmoved += 1
            if better:
                at = min(better, key=lambda r: laboratory.fit(r).misfit)
                path[at] = laboratory.fit(at)
                unmoved = 1
            if unmoved == len(moves):
                break
    return path


def gains(laboratory: Laboratory, reading: Reading, other: Reading) -> bool:
    difference, error = laboratory.fit(reading).against(laboratory.fit(other))
    return difference < -error


def by_chance(reading: Reading) -> bool:
    """Whether items are numbered at random: which numbers fit best is luck."""
    return reading.numbering.startswith(AT_RANDOM)


def start(laboratory: Laboratory, readings: Iterable[Reading]) -> Reading:
    """Return the best of readings to descend from."""
    return min((r for r in readings if not by_chance(r)), key=lambda r: laboratory.fit(r).misfit)


def put_back(laboratory: Laboratory, best: Reading) -> dict[Reading, Fit]:
    """Measure the best reading with each of its answers put back to today's."""
    return laboratory.measured([replace(best, **{name: getattr(TODAY, name)}) for name in best.changed(TODAY)])
