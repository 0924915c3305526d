"""What a step's cells carry, found by twins: rows of one table that differ in one attribute only.

A step is run on a table with few values, so that many pairs of rows are twins. Where the cells of twins differ in a
column, that column depends on the attribute in which the twins differ; a step may fit itself to the table, but not tell
such rows apart by it. Rows without any difference show which cells are drawn. What is found is kept in ``lineage.json``
by step and shape of its options, in terms of the options that name columns.

    python -m adversary.reader.twins   # in tests/; writes lineage.json anew
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from adversary.reader.files import SUPPRESSED
from adversary.reader.policies import ATTRIBUTES, SENSITIVE, STEPS, VALUES, Options, Row, random_step
from adversary.reader.product import run_policy

RECORD = Path(__file__).with_name("lineage.json")
KNOWN = ["age", "job", "zip"]
ROWS, TABLES = 400, 12
OWN, OTHER, NEW = "own", "other", "new"
"""A column itself, columns that no option names, and a column that the step adds."""

Roles = dict[str, list[str]]


def column_roles(options: Mapping[str, Any], columns: Sequence[str]) -> Roles:
    """The columns that each option names: in a list, as keys, or by itself."""
    roles = {}
    for option, value in options.items():
        names = [value] if isinstance(value, str) else list(value)
        if option != "name" and names and all(n in columns for n in names):
            roles[option] = names
    return roles


def shape(use: str, options: Mapping[str, Any], columns: Sequence[str]) -> str:
    """A step and the form of its options: columns and numbers without saying which."""
    roles = column_roles(options, columns)
    words = [use]
    for option in sorted(options):
        value = options[option]
        plain = "columns" if option in roles else "text" if option in ("name", "key_env", "scope") else str(value)
        words.append(f"{option}={'number' if plain.replace('.', '').isdigit() else plain}")
    return " ".join(words)


def observe(use: str, options: Options, privacy: Options, draw: Random) -> dict[str, Any] | None:
    """What the columns of one step depend on, by role; None if the product refuses the step."""
    names = [*KNOWN, SENSITIVE, "note"]
    person = use == "pseudonymize" and options["attributes"] == ["person"]
    rows = [_rare_and_frequent(draw, [*names, "person"] if person else names) for _ in range(ROWS)]
    attributes = {n: ATTRIBUTES[n] for n in names} | ({"person": {"role": "identifier"}} if person else {})
    policy = {
        "version": "1",
        "name": "twins",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": attributes,
        "privacy": privacy,
        "steps": {"step": {"use": use, "with": options}},
        "releases": {"a": {"path": "a.csv"}},
        "randomness": {"mode": "reproducible", "seed": str(draw.randrange(10**6))},
    }
    outcome = run_policy(policy, rows)
    if outcome.verdict == "refused":
        return None
    return dependencies(rows, dict(outcome.releases["a"]), column_roles(options, list(attributes)))


def dependencies(rows: Sequence[Row], cells: Mapping[int, Mapping[str, Any]], roles: Roles) -> dict[str, Any]:
    """What released cells and missing rows depend on: attributes in which twins differ that do not look alike."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    names, columns = list(rows[0]), {n for own in cells.values() for n in own}
    for attribute in [*names, None]:
        alike = defaultdict(list)
        for i, row in enumerate(rows):
            alike[tuple(v for n, v in row.items() if n != attribute)].append(i)
        for i, j in (pair for group in alike.values() for pair in combinations(group, 2)):
            if attribute is not None and rows[i][attribute] == rows[j][attribute]:
                continue
            if (i in cells) != (j in cells):
                found["present"]["drawn" if attribute is None else "shown"].add(_role(attribute, None, roles))
            if i not in cells or j not in cells:
                continue
            for column in columns:
                one, other = cells[i].get(column), cells[j].get(column)
                if one != other:
                    hiding = (one == SUPPRESSED) != (other == SUPPRESSED)
                    role = _role(attribute, column, roles)
                    kind = "drawn" if attribute is None else "hidden" if hiding else "shown"
                    found[_place(column, names, roles)][kind].add(role)
    return {place: {kind: sorted(of) for kind, of in kinds.items()} for place, kinds in found.items()}


def _rare_and_frequent(draw: Random, names: Sequence[str]) -> Row:
    values = {**VALUES, "person": ("p1", "p2", "p3")}
    return {n: draw.choices(values[n][:3], (12, 5, 1))[0] for n in names}


def _place(column: str, names: Sequence[str], roles: Roles) -> str:
    if column not in names:
        return NEW
    return next((option for option, own in roles.items() if column in own), OTHER)


def _role(attribute: str | None, column: str | None, roles: Roles) -> str:
    if attribute is None or attribute == column:
        return OWN
    return next((option for option, own in roles.items() if attribute in own), OTHER)


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both observations together."""
    places = sorted({*one, *other})
    return {
        p: {
            kind: sorted({*one.get(p, {}).get(kind, ()), *other.get(p, {}).get(kind, ())})
            for kind in sorted({*one.get(p, {}), *other.get(p, {})})
        }
        for p in places
    }


def observe_steps(tables: int = TABLES) -> dict[str, Any]:
    """Observe every shape of step that random policies have, each on some tables."""
    draw, seen, record = Random("twins"), defaultdict(int), {}
    columns = [*KNOWN, SENSITIVE, "note", "person"]
    for _ in range(200 * len(STEPS)):
        use, options, _after = random_step(draw, columns, KNOWN, list(STEPS))
        form = shape(use, options, columns)
        if use == "drop" or seen[form] >= tables:
            continue
        privacy: Options = {"k_anonymity": {"k": "4"}}
        if draw.random() < 0.5:
            privacy["l_diversity"] = {SENSITIVE: {"l": "2"}}
        options = {n: "9" if n == "k" else v for n, v in options.items()}
        if "rare" in options:
            options["rare"] = {n: {"count": "20"} for n in options["rare"]}
        observed = observe(use, options, privacy, draw)
        if observed is not None:
            seen[form] += 1
            record[form] = merged(record.get(form, {}), observed)
            print(form, observed, file=sys.stderr)
    return dict(sorted(record.items()))


if __name__ == "__main__":
    RECORD.write_text(json.dumps(observe_steps(), indent=1) + "\n", encoding="utf-8")
