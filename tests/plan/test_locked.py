"""Which plugins and files a lock fixes of a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import pytest

from ppdm_flow.core.digests import digests_read, reading_number, sha256
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.locked import files_of, marked_files, plugins_of
from ppdm_flow.policy import load
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import FileMark, FilePath, KeyPath, Params

PIPELINES = sorted((Path(__file__).parents[2] / "pipelines").glob("*.yaml"))


class Inner(Params):
    """A model within."""

    table: FilePath | None = None


class Given(Params):
    """Files in every shape that parameters have."""

    one: FilePath
    none: FilePath | None = None
    many: tuple[FilePath, ...] = ()
    named: dict[str, FilePath] = {}  # noqa: RUF012  (pydantic copies it)
    within: dict[str, Inner] = {}  # noqa: RUF012  (pydantic copies it)
    key: KeyPath | None = None
    keys: tuple[KeyPath, ...] = ()
    text: str = "no file"
    annotated: Annotated[str, FileMark()] | None = None


def test_every_marked_file_is_found_and_keys_apart():
    given = Given(
        one="1",
        many=("2", "3"),
        named={"a": "4"},
        within={"b": Inner(table="5"), "c": Inner()},
        key="k",
        keys=("l",),
        annotated="6",
    )
    assert sorted(marked_files(given, secret=False)) == ["1", "2", "3", "4", "5", "6"]
    assert sorted(marked_files(given, secret=True)) == ["k", "l"]


def plan_of(path: Path):
    compiled = compile_policy(load(path), digested=False)
    assert compiled.plan is not None
    return compiled.plan


@pytest.mark.parametrize("path", PIPELINES, ids=lambda p: p.stem)
def test_every_plugin_that_a_run_loads(path):
    plan = plan_of(path)
    names = [name for (name, _, _), _ in plugins_of(plan)]
    assert len(names) == len(set(names))
    wanted = {f"anonymizers/{s.bound.info.name}" for s in plan.steps}
    wanted |= {f"audits/{a.bound.info.name}" for a in plan.audits}
    wanted |= {f"sinks/{r.format}" for r in plan.releases} | {f"sources/{plan.source.format}"}
    assert set(names) == wanted
    assert {f"audits/{r.kind}" for r in plan.requirements} <= set(names), "those that requirements imply"
    for (name, distribution, version), _ in plugins_of(plan):
        found = registry.find(*name.split("/"))
        assert (distribution, version) == (found.distribution, found.version)


POLICY = """\
version: 1
name: p
source: {path: data.csv}
attributes:
  age: {role: quasi_identifier, hierarchy: {csv: ages.csv}}
  job: {role: quasi_identifier}
  person: {role: identifier}
steps:
  hide: {use: pseudonymize, with: {attributes: [person], key_file: key}}
  coarse: {use: generalize, with: {attributes: {age: {level: 1}, job: {level: 1, hierarchy: sub/../jobs.csv}}}}
privacy: {k_anonymity: {k: 2}, k_map: {k: 2, population: {path: register.csv}}}
audits:
  link: {use: linkage, with: {external: people.csv, identity: name}}
releases: {study: {path: study.csv}}
"""


def test_definitions_are_files_and_data_is_not(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(POLICY)
    compiled = compile_policy(load(path), digested=False)
    assert compiled.plan is not None, compiled.diagnostics
    found = dict(files_of(compiled.plan))
    assert set(found) == {str(tmp_path / "ages.csv"), str(tmp_path / "jobs.csv")}
    assert [span.line for span in found.values() if span] == [5, 10]


def test_a_source_of_no_format_yet_has_no_plugin(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(POLICY.replace("source: {path: data.csv}\n", ""))
    names = {name for (name, _, _), _ in plugins_of(plan_of(path))}
    assert not any(name.startswith("sources/") for name in names)


CLIENTS = """\
version: 1
name: p
source: {path: sent.jsonl, randomized_by: clients, operator: sub/operator.json}
attributes: {basket: {role: items}}
privacy: {itemset_breach: {level: 0.9, sizes: [1], max_supports: [0.2]}}
releases: {study: {path: study.parquet}}
"""


def test_the_operator_of_clients_is_a_definition(tmp_path):
    sizes = [{"size": 1, "cutoff": 2, "rho": 0.3}]
    operator = {"family": "cut_and_paste", "alphabet": 2, "sizes": sizes}
    entry = {"attribute": "x", "form": "transactions", "operator": operator, "items": ["a", "b"], "sets": "packed"}
    file = tmp_path / "sub/operator.json"
    file.parent.mkdir()
    file.write_text(json.dumps(entry))
    path = tmp_path / "p.yaml"
    path.write_text(CLIENTS)
    since = reading_number()
    assert list(dict(files_of(plan_of(path)))) == [str(file)]
    assert digests_read(file, since) == {sha256(file)}, "what was read is held against the lock"


def test_a_source_that_nobody_randomized_has_no_definition(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(CLIENTS.replace(", randomized_by: clients, operator: sub/operator.json", ", format: jsonl"))
    compiled = compile_policy(load(path), digested=False)
    assert compiled.plan is None or not dict(files_of(compiled.plan))
