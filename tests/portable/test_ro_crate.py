"""Crates, read by rocrate; and what the Five Safes profile requires, looked for by hand."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from portable.conftest import document, text
from rocrate.rocrate import ROCrate

FORM = "ro-crate"
COMPLETED, FAILED = (f"http://schema.org/{state}ActionStatus" for state in ("Completed", "Failed"))


def crate(home: Path, folder: Path, content: str) -> ROCrate:
    shutil.copytree(home, folder)
    (folder / "ro-crate-metadata.json").write_text(content, encoding="utf-8")
    return ROCrate(folder)


def graph(found: dict) -> dict[str, dict]:
    entities = {each["@id"]: each for each in found["@graph"]}
    assert len(entities) == len(found["@graph"]), "no entity stands there twice"
    return entities


def references(value) -> list[str]:
    """Return every entity that is referred to below a value."""
    if isinstance(value, list):
        return [name for each in value for name in references(each)]
    if isinstance(value, dict):
        return [value["@id"]] if set(value) == {"@id"} else [n for key in value for n in references(value[key])]
    return []


def test_a_public_crate_is_read_and_has_the_files_of_one_release(released, tmp_path):
    found = crate(released / "released/public", tmp_path / "crate", text(released, FORM, "public", public=True))
    assert found.version == "1.2"
    assert sorted(each.id for each in found.data_entities) == [
        "datasheet.html",
        "datasheet.md",
        "dictionary.json",
        "wages.csv",
    ]
    for each in found.data_entities:
        content = (tmp_path / "crate" / each.id).read_bytes()
        assert each["sha256"] == hashlib.sha256(content).hexdigest()
        assert each["contentSize"] == str(len(content))


def test_an_internal_crate_has_every_file_of_the_run(released, tmp_path):
    found = crate(released, tmp_path / "crate", text(released, FORM))
    manifest = json.loads((released / "manifest.json").read_text())
    assert sorted(each.id for each in found.data_entities) == sorted(manifest["files"])
    assert found.get("#input")["sha256"] == manifest["input"]["sha256"]
    assert found.get("#input")["name"] == manifest["input"]["name"]


@pytest.mark.parametrize("public", [True, False])
def test_what_the_profile_requires_is_there(released, public):
    entities = graph(document(released, FORM, *(("public",) if public else ()), public=public))
    assert entities["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.2"}
    root = entities["./"]
    assert root["@type"] == "Dataset"
    assert root["conformsTo"] == {"@id": "https://w3id.org/5s-crate/0.4"}
    assert {"name", "description", "datePublished", "license", "publisher"} <= set(root)
    assert entities[root["sourceOrganization"]["@id"]]["@type"] == "Project"
    assert entities[root["mainEntity"]["@id"]]["@type"] == "Dataset"
    mentioned = [entities[each["@id"]] for each in root["mentions"]]
    (action,) = (each for each in mentioned if each["@type"] == "CreateAction")
    assert action["actionStatus"] == COMPLETED
    assert root["mainEntity"] in action["instrument"]
    person = entities[action["agent"]["@id"]]
    assert person["@type"] == "Person"
    assert person["memberOf"] == root["sourceOrganization"]
    assert set(references(action["result"])) <= set(references(root["hasPart"]))
    (check,) = (each for each in mentioned if each["@type"] == "AssessAction")
    assert check["additionalType"] == {"@id": "https://w3id.org/shp#DisclosureCheck"}
    assert check["object"] == {"@id": "./"}
    assert check["endTime"].endswith("+00:00")
    software = entities[check["agent"]["@id"]]
    assert entities[software["provider"]["@id"]]["@type"] == "Organization"


@pytest.mark.parametrize("public", [True, False])
def test_whatever_is_referred_to_is_described(released, withheld, public):
    for run, names in ((released, ("partner",)), (withheld, ())):
        found = document(run, FORM, *names, public=public)
        outside = {"https://w3id.org/ro/crate/1.2", "https://w3id.org/shp#DisclosureCheck"}
        assert set(references(found["@graph"])) - outside <= set(graph(found))


def test_measured_figures_stay_inside(released):
    internal = graph(document(released, FORM, "public"))
    public = graph(document(released, FORM, "public", public=True))
    assert "at least 3. A reader who knows" in internal["#requirement-1"]["description"]
    assert "not for the public" in public["#requirement-1"]["description"]
    assert [public["#requirement-1"]["value"], internal["#requirement-1"]["value"]] == ["holds", "holds"]


@pytest.mark.parametrize("public", [True, False])
def test_what_was_withheld_has_failed_and_is_no_part(withheld, public):
    entities = graph(document(withheld, FORM, public=public))
    (action,) = (each for each in entities.values() if each["@type"] == "CreateAction")
    (check,) = (each for each in entities.values() if each["@type"] == "AssessAction")
    assert (action["actionStatus"], check["actionStatus"]) == (FAILED, FAILED)
    assert action["result"] == []
    assert not [name for name in entities if name.startswith("released")]
    assert "does not hold" in {each.get("value") for each in entities.values()}
