"""What is shared holds no value, no path and nothing of the input: canaries are searched for in every form."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256

import pytest
from held_runs import HeldHome
from portable.conftest import document, text

from ppdm_flow.api.report import judgement
from ppdm_flow.core.errors import UsageError
from ppdm_flow.report.forms import PORTABLE

FORMS = ("croissant", "odcs", "ro-crate", "openlineage")
CANARIES = ("zqname", "zqtown", "zqfolder", "zqsource", "zqsecret", "/tmp", "twice", "tailor")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("release", ["public", "partner"])
def test_a_public_form_tells_nothing_of_the_input(released, form, release):
    told = text(released, form, release, public=True)
    manifest = json.loads((released / "manifest.json").read_text())
    assert [each for each in CANARIES if each in told] == []
    assert manifest["input"]["sha256"] not in told
    assert str(released) not in told
    assert '"actual"' not in told


@pytest.mark.parametrize("form", ["croissant", "odcs"])
def test_documents_for_recipients_are_public_whatever_is_said(released, form):
    assert text(released, form, "public") == text(released, form, "public", public=True)


@pytest.mark.parametrize("form", ["croissant", "odcs", "ro-crate"])
def test_a_release_tells_nothing_of_the_others(released, form):
    told = text(released, form, "public", public=True)
    manifest = json.loads((released / "manifest.json").read_text())["files"]
    assert "partner" not in told
    assert "wages.parquet" not in told
    assert manifest["released/partner/wages.parquet"]["sha256"] not in told


@pytest.mark.parametrize("form", ["ro-crate", "openlineage"])
def test_internal_forms_hold_no_value_and_no_folder(released, withheld, form):
    """The mirror image: name and hash of the input are there, and nothing else."""
    for run in (released, withheld):
        told = text(run, form)
        manifest = json.loads((run / "manifest.json").read_text())
        assert manifest["input"]["sha256"] in told
        assert "zqsource.csv" in told
        assert [each for each in CANARIES if each in told and each != "zqsource"] == []


def test_a_small_release_does_not_tell_how_small(released, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(released, run)
    report = json.loads((run / "report.json").read_text())
    report["releases"]["public"]["rows"] = 7
    content = json.dumps(report).encode()
    (run / "report.json").write_bytes(content)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["files"]["report.json"] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert "quality" not in document(run, "odcs", "public")["schema"][0]
    public = document(run, "openlineage", "public", public=True)["outputs"][0]["outputFacets"]["outputStatistics"]
    internal = document(run, "openlineage", "public")["outputs"][0]["outputFacets"]["outputStatistics"]
    assert ("rowCount" in public, internal["rowCount"]) == (False, 7)


@pytest.mark.parametrize("form", ["croissant", "odcs"])
def test_nothing_describes_what_was_withheld(withheld, form):
    with pytest.raises(UsageError) as caught:
        text(withheld, form)
    assert [each.code for each in caught.value.diagnostics] == ["PPF985"]


@pytest.mark.parametrize("form", ["croissant", "odcs", "ro-crate"])
def test_several_releases_have_to_be_told_apart(released, form):
    with pytest.raises(UsageError) as caught:
        text(released, form, public=True)
    assert [each.code for each in caught.value.diagnostics] == ["PPF694"]
    assert "`public` and `partner`" in (caught.value.diagnostics[0].help or "")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda run: (run / "manifest.json").unlink(), "PPF986"),
        (lambda run: (run / "manifest.json").write_text("{"), "PPF986"),
        (lambda run: (run / "manifest.json").write_text("[]"), "PPF986"),
        (lambda run: (run / "manifest.json").write_text('{"files": {"a": 1}}'), "PPF986"),
        (lambda run: (run / "released/public/dictionary.json").unlink(), "PPF986"),
        (lambda run: append(run / "released/public/dictionary.json"), "PPF986"),
        (lambda run: append(run / "report.json"), "PPF986"),
        (lambda run: (run / "report.json").unlink(), "PPF692"),
    ],
)
def test_a_run_that_was_changed_is_not_described(released, tmp_path, spoil, code):
    run = tmp_path / "run"
    shutil.copytree(released, run)
    spoil(run)
    with pytest.raises(UsageError) as caught:
        judgement(run, portable=True)
    assert [each.code for each in caught.value.diagnostics] == [code]


def append(file) -> None:
    file.write_text(file.read_text() + " ")


def test_a_held_run_waits_and_is_described_once_it_is_published(tmp_path):
    home = HeldHome.make(tmp_path, ledger=False)
    run = home.run().run_dir
    event = document(run, "openlineage")
    assert (event["eventType"], event["outputs"]) == ("RUNNING", [])
    crate = {each["@id"]: each for each in document(run, "ro-crate")["@graph"]}
    assert crate["#sign-off"]["actionStatus"] == "http://schema.org/PotentialActionStatus"
    assert not [name for name in crate if "ward.csv" in name]
    with pytest.raises(UsageError, match="PPF985"):
        text(run, "croissant", "public")
    home.approve(run)
    home.release(run)
    assert document(run, "openlineage")["eventType"] == "COMPLETE"
    assert document(run, "croissant", "public")["name"] == "ward-public"
    crate = {each["@id"]: each for each in document(run, "ro-crate")["@graph"]}
    assert crate["#sign-off"]["actionStatus"] == "http://schema.org/CompletedActionStatus"


@pytest.mark.parametrize("publication", ["{}", '{"released": "2026-01-01T00:00:00+00:00", "signatures": []}'])
def test_a_held_run_that_was_moved_by_hand_is_not_described_as_published(tmp_path, publication):
    home = HeldHome.make(tmp_path, ledger=False)
    run = home.run().run_dir
    (run / "held").rename(run / "released")
    (run / "publication.json").write_text(publication)
    assert document(run, "openlineage")["eventType"] == "RUNNING"
    with pytest.raises(UsageError, match="PPF985"):
        text(run, "croissant", "public")


def test_every_form_is_looked_at():
    assert set(FORMS) == set(PORTABLE)
