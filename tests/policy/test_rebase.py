"""Paths of files in templates are meant from the template's folder, wherever they stand."""

from __future__ import annotations

import pytest

from ppdm_flow.policy.rebase import PLUGIN_FILES
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import FileMark

AUDITS = """\
audits:
  link: {use: linkage, with: {external: ../people.csv, identity: name}}
  order: {use: unsorted_matching, with: {other: before.csv}}
  rejoin: {use: rejoin, with: {other: study, key: id}}
"""


def marked(group: str) -> dict[str, tuple[str, ...]]:
    found = {}
    for plugin in registry.listed(group):
        fields = registry.load(group, plugin.name).params.model_fields.items()
        names = tuple(info.alias or n for n, info in fields if "FileMark" in repr((info.annotation, info.metadata)))
        if names and plugin.built_in:
            found[plugin.name] = names
    return found


def test_every_file_that_a_built_in_takes_is_known_here() -> None:
    assert repr(FileMark()) == "FileMark()"
    assert marked("anonymizers") | marked("audits") == dict(PLUGIN_FILES)
    assert marked("sources") | marked("sinks") == {}


def test_files_of_plugins(read, start) -> None:
    tree = read(f"{start}extends: lib/t/a.yaml\n", {"lib/t/a.yaml": AUDITS}).tree["audits"]
    assert tree["link"]["with"] == {"external": "lib/people.csv", "identity": "name"}
    assert tree["order"]["with"]["other"] == "lib/t/before.csv"
    assert tree["rejoin"]["with"]["other"] == "study"


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
