"""Paths of files in templates are meant from the template's folder, wherever they stand."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from inspect import getsource
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from ppdm_flow.policy.inheritance.inherit import PLUGIN_FILES
from ppdm_flow.policy.language import kinds
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import FileMark, Params, PluginSpec

AUDITS = """\
audits:
  link: {use: linkage, with: {external: ../people.csv, identity: name}}
  order: {use: unsorted_matching, with: {other: before.csv}}
  rejoin: {use: rejoin, with: {other: study, key: id}}
"""


def files(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the places of a model, and of models in it, that are declared as files."""
    for name, info in model.model_fields.items():
        here = (*path, info.alias or name)
        if FileMark() in info.metadata:
            yield here
        yield from below(info.annotation, here)


def below(annotation: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from files(annotation, path)
    if get_origin(annotation) is Annotated and FileMark() in get_args(annotation):
        yield path
    inner = (*path, "*") if get_origin(annotation) in (dict, Mapping) else path
    for each in get_args(annotation):
        yield from below(each, inner)


def built_in() -> Iterator[PluginSpec]:
    for group in registry.GROUPS:
        yield from (registry.load(group, p.name) for p in registry.listed(group) if p.built_in)


def test_every_file_that_a_built_in_takes_is_known_here() -> None:
    marked = {spec.info.name: tuple(files(spec.params)) for spec in built_in()}
    of_kinds = {spec.name: spec.files for spec in kinds.built_in() if marked.get(spec.name)}
    assert {name: found for name, found in marked.items() if found} == {**PLUGIN_FILES, **of_kinds}


def test_what_a_page_calls_relative_to_the_policy_is_declared_as_a_file() -> None:
    for spec in built_in():
        if spec.params.__module__ == Params.__module__:  # it takes none
            continue
        told = " ".join(getsource(sys.modules[spec.params.__module__]).split())
        if "relative to the policy" in told:
            assert spec.info.name in PLUGIN_FILES or kinds.spec_of(spec.info.name).files


def test_files_of_plugins(read, start) -> None:
    tree = read(f"{start}extends: lib/t/a.yaml\n", {"lib/t/a.yaml": AUDITS}).tree["audits"]
    assert tree["link"]["with"] == {"external": "lib/people.csv", "identity": "name"}
    assert tree["order"]["with"]["other"] == "lib/t/before.csv"
    assert tree["rejoin"]["with"]["other"] == "study"


def test_files_of_steps(read, start) -> None:
    steps = "steps: {g: {use: generalize, with: {attributes: {job: {hierarchy: jobs.csv}, city: {level: 2}}}}}\n"
    tree = read(f"{start}extends: lib/a.yaml\n", {"lib/a.yaml": steps}).tree["steps"]
    assert tree["g"]["with"]["attributes"] == {"job": {"hierarchy": "lib/jobs.csv"}, "city": {"level": "2"}}


def test_the_plugin_may_stand_in_the_file_below(read, start) -> None:
    files = {"lib/t/a.yaml": AUDITS, "lib/b.yaml": "extends: t/a.yaml\naudits: {order: {with: {other: now.csv}}}\n"}
    tree = read(f"{start}extends: lib/b.yaml\n", files).tree["audits"]
    assert tree["order"]["with"]["other"] == "lib/now.csv"
    own = read(f"{start}extends: lib/t/a.yaml\naudits: {{order: {{with: {{other: mine.csv}}}}}}\n", files).tree
    assert own["audits"]["order"]["with"]["other"] == "mine.csv"


@pytest.mark.parametrize("path", ["/abs/pop.csv", "pop.csv"])
def test_a_population(read, start, path: str) -> None:
    base = f"privacy: {{k_map: {{k: 3, population: {{path: {path}}}}}}}\n"
    tree = read(f"{start}extends: lib/a.yaml\n", {"lib/a.yaml": base}).tree
    assert tree["privacy"]["k_map"]["population"]["path"] == (path if path[0] == "/" else "lib/pop.csv")


def test_a_control_group(read, start) -> None:
    base = """privacy: {numeric_linkage: {attributes: [x], max: 0.1, control: others.csv}}
audits: {found: {use: numeric_linkage, with: {attributes: [x], control: others.csv}}}
"""
    tree = read(f"{start}extends: lib/a.yaml\n", {"lib/a.yaml": base}).tree
    assert tree["privacy"]["numeric_linkage"]["control"] == "lib/others.csv"
    assert tree["audits"]["found"]["with"]["control"] == "lib/others.csv"


@pytest.mark.parametrize(("path", "meant"), [("a.ledger", "lib/a.ledger"), ("postgresql://db/x", "postgresql://db/x")])
def test_a_ledger_on_a_server_has_no_folder(read, start, path: str, meant: str) -> None:
    tree = read(f"{start}extends: lib/a.yaml\n", {"lib/a.yaml": f"ledger: {{path: '{path}'}}\n"}).tree
    assert tree["ledger"]["path"] == meant


def test_the_operator_of_clients(read, start) -> None:
    base = "source: {path: sent.jsonl, randomized_by: clients, operator: op.json}\n"
    tree = read(f"{start}extends: lib/a.yaml\n", {"lib/a.yaml": base}).tree
    assert (tree["source"]["path"], tree["source"]["operator"]) == ("lib/sent.jsonl", "lib/op.json")
    own = read(f"{start}extends: lib/a.yaml\nsource: {{operator: mine.json}}\n", {"lib/a.yaml": base}).tree
    assert own["source"]["operator"] == "mine.json"
