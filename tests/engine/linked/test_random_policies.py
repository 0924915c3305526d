"""Random policies of linked tables: each is run, or refused as a policy, and no stage breaks.

``tests/campaigns/linked_policies.py`` takes as many as one likes.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import PpdmError, RunError

ENDS = {0, 1, 2, 4}
KEYS = {"patients": "patient", "visits": "visit", "claims": "claim"}
COLUMNS = {"patients": ["born", "sex"], "visits": ["hospital", "diagnosis"], "claims": ["paid"]}


def tables(draw: Random, names: list[str]):
    """Return tables of a few people. Now and then keys are not unique, or a reference leads nowhere."""
    people = [f"p{i}" for i in range(draw.randint(2, 8))]
    made = {"patients": [{"patient": p, "born": draw.choice(["x", "y", ""]), "sex": draw.choice("fm")} for p in people]}
    for name in names[1:]:
        rows = [p for p in people for _ in range(draw.choice([0, 1, 1, 2]))] or people[:1]
        rows += ["stranger"] * (draw.random() < 0.04)
        own = {column: ["n", "s", "", "7"] for column in COLUMNS[name]}
        made[name] = [
            {KEYS[name]: f"{name[0]}{i}", "patient": p, **{c: draw.choice(values) for c, values in own.items()}}
            for i, p in enumerate(rows)
        ]
    if draw.random() < 0.03:
        made["patients"].append(dict(made["patients"][0]))
    return made


def table(draw: Random, name: str):
    roles = ["quasi_identifier", "quasi_identifier", "sensitive", "insensitive"]
    attributes = {column: {"role": draw.choice(roles)} for column in COLUMNS[name]}
    key = KEYS[name]
    entry = {"source": {"path": f"{name}.csv"}, "undeclared": "drop"}
    if name == "patients":
        attributes = {key: {"role": draw.choice(["subject"] * 49 + ["identifier"])}, **attributes}
        entry["key"] = key
    else:
        entry["refers"] = {"patient": "patients"}
        if draw.random() < 0.6:
            attributes[key] = {"role": draw.choice(["identifier", "identifier", "insensitive"])}
            entry["key"] = key
        if draw.random() < 0.2:
            attributes["patient"] = {"role": draw.choice(["subject", "identifier"])}
    return {**entry, "attributes": attributes}


def step(draw: Random, name: str, inputs: list[str]):
    """Return a step on a table or on what another step left of it."""
    key, columns = draw.choice(["patient", KEYS[name]]), COLUMNS[name]
    use, given = draw.choice(
        [
            ("pseudonymize", {"attributes": [key], "key_env": "CLINIC_KEY"}),
            ("pseudonymize", {"attributes": ["patient"], "key_env": "CLINIC_KEY", "scope": "shared"}),
            ("drop", {"attributes": [draw.choice([*columns, key, "patient"])]}),
            ("rename", {"attributes": {draw.choice(["patient", *columns]): "called"}}),
            ("sample", {"fraction": 0.7}),
            ("limit_rows", {"rows": 1}),
            ("suppress", {"attributes": [draw.choice([*columns, key])]}),
            ("shuffle_rows", {}),
            ("assign_class_id", {"attributes": [columns[0]], "name": "group"}),
            ("vertical_partition", {"key": "patient", "tables": {"one": columns[:1], "other": columns[1:] or [key]}}),
            ("progressive_disclosure", {}),
        ]
    )
    return {"use": use, "with": given, **({"input": draw.choice(inputs)} if draw.random() < 0.95 else {})}


def release(draw: Random, number: int, origins: list[str]):
    form = draw.choice(["csv", "csv", "parquet"])
    made = {"path": f"r{number}.{form}"}
    if draw.random() < 0.95:
        made["from"] = draw.choice(origins)
    if draw.random() < 0.6:
        made["shuffle"] = draw.choice(["true", "false", "false"])
    if draw.random() < 0.2:
        made["audience"] = "partner"
    return made


def requirements(draw: Random, names: list[str]):
    every = [f"{name}.{column}" for name in names for column in COLUMNS[name]]
    secret = draw.choice(every)
    others = [name for name in every if name != secret]
    some = draw.sample(others, draw.randint(1, len(others)))
    return draw.choice(
        [
            {"k_anonymity": {"k": "2"}},
            {"k_anonymity": {"k": "2", "attributes": some}},
            {"k_anonymity": [{"name": "a", "k": "2", "attributes": some}, {"name": "b", "k": "2"}]},
            {"k_anonymity": {"k": "2"}, "l_diversity": {secret: {"l": "2", "attributes": some}}},
            {"alpha_k": {secret: {"alpha": "0.9", "attributes": some}}, "k_anonymity": {"k": "2"}},
            "none",
        ]
    )


def random_policy(draw: Random):
    names = ["patients", *draw.sample(["visits", "claims"], draw.randint(1, 2))]
    origins: dict[str, list[str]] = {name: [name] for name in names}
    steps = {}
    for number in range(draw.randint(0, 4)):
        name = draw.choice(names)
        made = steps[f"s{number}"] = step(draw, name, origins[name])
        outputs = (made["with"].get("tables") or {}) if made["use"] == "vertical_partition" else ()
        origins[name] += [f"s{number}.{output}" for output in outputs] or [f"s{number}"]
    ends = [origin for name in names for origin in (*origins[name], origins[name][-1])]
    releases = {f"r{number}": release(draw, number, ends) for number in range(draw.randint(1, 3))}
    people = {"known_rows": draw.choice(["1", "2", "all"])} if draw.random() < 0.98 else {"unit": "rows"}
    policy = {
        "version": "1",
        "name": "clinic",
        "tables": {name: table(draw, name) for name in names},
        "people": people,
        "nulls": draw.choice(["own_category", "exclude", "wildcard"]),
        "privacy": requirements(draw, names),
        **({"steps": steps} if steps else {}),
        "releases": releases,
    }
    if draw.random() < 0.1:
        policy["recipients"] = "apart"
    if draw.random() < 0.1:
        policy["ledger"] = {"path": "ledger.sqlite"}
    if draw.random() < 0.1:
        policy["audits"] = {"sizes": {"use": "class_sizes", "release": "r0"}}
    return policy, tables(draw, names)


def ended(clinic, run, seed: int) -> int:
    """Carry out a random policy, and what can be done with its run; return the exit status that the run has."""
    policy, data = random_policy(Random(seed))
    file = clinic(json.dumps(policy), **data)
    api.check([file])
    try:
        api.plan(file)
        result = run(file)
        status = int(result.exit_status)
        api.verify(result.run_dir)
        api.audit(file, Path(file).parent, result.run_dir / ("released" if result.released else "withheld"))
    except RunError:
        raise
    except PpdmError as error:
        status = error.exit_status
    assert status in ENDS, seed
    return status


@pytest.mark.random
@pytest.mark.parametrize("start", range(0, 80, 20))
def test_no_stage_breaks(clinic, run, start):
    ends = [ended(clinic, run, seed) for seed in range(start, start + 20)]
    assert len(set(ends)) > 1
