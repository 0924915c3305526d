"""Small sources and files for tests of the reader: written down, or drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from adversary.reader.files import HiddenCells, ReleasedColumn, ReleasedFile, ReleasedRow, SourceRow

ColumnPlan = (
    tuple[Iterable[str], Callable[[SourceRow], Any]] | tuple[Iterable[str], Callable[[SourceRow], Any], dict[str, Any]]
)


def table(head: str, text: str) -> list[SourceRow]:
    """Rows between bars, cells between blanks; ``-`` is missing, digits are numbers."""

    def value(word: str) -> Any:
        return None if word == "-" else int(word) if word.isdigit() else word

    return [dict(zip(head.split(), map(value, line.split()), strict=True)) for line in text.split("|")]


def released(
    name: str, source: Sequence[SourceRow], columns: dict[str, Any], rows: Iterable[int] | None = None, **more: Any
) -> ReleasedFile:
    """A file of some source rows.

    A column is given by the attribute that it shows, or by what it carries, the function that makes a cell of a source
    row, and further properties of `ReleasedColumn`.
    """
    plans = {n: ({c}, lambda row, a=c: row[a]) if isinstance(c, str) else c for n, c in columns.items()}
    made = [ReleasedColumn(n, frozenset(carries), **dict(*rest)) for n, (carries, _, *rest) in plans.items()]
    numbers = range(len(source)) if rows is None else rows
    cells = [ReleasedRow((k,), {n: make(source[k]) for n, (_, make, *_) in plans.items()}) for k in numbers]
    if more.get("present") is not None:
        more["present"] = frozenset(more["present"])
    return ReleasedFile(name, made, cells, **more)


def random_source(
    draw: Random, rows: int, *, people: bool = False, missing: bool = False, extra: Sequence[str] = ()
) -> list[SourceRow]:
    """Rows with a, b, s and the ``extra`` attributes of two or three values each; persons have one to three rows."""
    values = {a: [f"{a}{n}" for n in range(draw.choice((2, 2, 3)))] for a in ("a", "b", "s", *extra)}
    source: list[SourceRow] = [{a: draw.choice(own) for a, own in values.items()} for _ in range(rows)]
    if missing:
        for row in source:
            row.update({a: None for a in values if draw.random() < 0.12})
    if people:
        persons = sorted(draw.randrange((rows + 1) // 2) for _ in range(rows))
        draw.shuffle(persons)
        for row, person in zip(source, persons, strict=True):
            row["person"] = f"p{person}"
    return source


def random_map(draw: Random, attribute: str, source: Sequence[SourceRow]) -> ColumnPlan:
    """A map of an attribute: as it is, or with some of its values merged."""
    values = sorted({row[attribute] for row in source} - {None})
    labels = {v: v if draw.random() < 0.6 else f"{attribute}*" for v in values} | {None: None}
    return {attribute}, lambda row: labels[row[attribute]]


def random_column(draw: Random, attributes: Sequence[str], source: Sequence[SourceRow]) -> ColumnPlan:
    """A column that carries one or two attributes: a map, a keyed or a noisy copy, or ids of pairs of values."""
    kind = draw.choice(("map", "map", "map", "keyed", "noisy", "ids"))
    if kind == "ids" and len(attributes) > 1:
        one, other = draw.sample(list(attributes), 2)
        pairs = sorted({(str(r[one]), str(r[other])) for r in source})
        ids = {pair: draw.choice("XY") for pair in pairs}
        return {one, other}, lambda row: ids[str(row[one]), str(row[other])]
    attribute = draw.choice(list(attributes))
    if kind == "keyed":
        key = draw.choice("KL")
        return {attribute}, lambda row: f"{key}{row[attribute]}", {"kind": "keyed", "key": key}
    if kind == "noisy":
        cells = {id(row): draw.choice("uvw") for row in source}
        return {attribute}, lambda row: cells[id(row)], {"kind": "noisy"}
    return random_map(draw, attribute, source)


def random_files(
    draw: Random, source: Sequence[SourceRow], attributes: Sequence[str], number: int
) -> list[ReleasedFile]:
    """Files with two or three columns each, of which some lack rows by chance or for a reason, or hide cells."""
    files = []
    for n in range(number):
        columns = {f"c{i}": random_column(draw, attributes, source) for i in range(draw.choice((1, 2, 2, 3)))}
        rows, more = list(range(len(source))), {}
        lack = draw.choice(("none", "none", "none", "chance", "reason", "hidden", "unshuffled"))
        if lack == "chance":
            rows, more = sorted(draw.sample(rows, draw.randint(2, len(rows)))), {"sampled": True}
        elif lack == "reason":
            one, other = draw.sample(list(attributes), 2)
            pairs = {(r[one], r[other]) for r in source}
            gone = {pair for pair in sorted(pairs, key=str) if draw.random() < 0.2}
            absent = [k for k in rows if (source[k][one], source[k][other]) in gone]
            if len(absent) < len(rows):
                rows = [k for k in rows if k not in absent]
                more = {"absent": absent, "present": {one, other}}
        elif lack == "hidden":
            columns["c0"] = _hidden_column(draw, attributes, source)
        elif lack == "unshuffled":
            more = {"shuffled": False}
        files.append(released(f"file {n}", source, columns, rows, **more))
    return files


def _hidden_column(draw: Random, attributes: Sequence[str], source: Sequence[SourceRow]) -> ColumnPlan:
    """A column of which cells were hidden where a class of another attribute fails."""
    own, chooser = draw.sample(list(attributes), 2)
    failed = {v for v in sorted({row[chooser] for row in source}, key=str) if draw.random() < 0.4}
    requirement = draw.choice((None, "alpha_k"))
    sensitive = chooser if requirement and chooser == "s" else None
    hidden = HiddenCells(frozenset({own, chooser}), requirement=requirement, sensitive=sensitive)
    return {own}, lambda row: "*" if row[chooser] in failed else row[own], {"hidden": hidden}
