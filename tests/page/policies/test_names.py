"""Runs and tables are found by the name of a policy: on the page a second file does not take it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from sites import PATIENCE, Server
from small_policies import write_policy

from ppdm_flow.api.loading.kinds import identity_of
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.policies.policies import named_after


@pytest.fixture
def steward(server: Server):
    write_policy(server.folder / "policies")
    return server.browser(PageRole.STEWARD)


@pytest.fixture
def folder(server: Server):
    return server.folder / "policies"


def _name_in(data: bytes) -> str | None:
    return identity_of(Path("x.yaml"), data).name


def _digest(path):
    return sha256(path.read_bytes()).hexdigest()


def _is_refused(answer):
    assert answer.status_code == 409, answer.text
    assert "ward.yaml, is the policy `ward`" in answer.text
    return True


def _other(folder, name="mine", file="mine.yaml"):
    path = folder / file
    path.write_text((folder / "ward.yaml").read_text().replace("name: ward", f"name: {name}"))
    return path


@pytest.mark.parametrize("spelled", ["ward", '"ward"', r'"w\x61rd"', "ward # mine"])
def test_a_second_file_does_not_take_a_name(steward, folder, spelled: str):
    path = _other(folder)
    before = path.read_text()
    text = before.replace("name: mine", f"name: {spelled}")
    assert _is_refused(steward.send("/policies/mine.yaml/edit", text=text, digest=_digest(path)))
    assert path.read_text() == before
    kept = text.replace(spelled, "other")
    assert steward.send("/policies/mine.yaml/edit", text=kept, digest=_digest(path)).status_code == 303
    assert path.read_text() == kept


def test_a_name_from_a_template_is_taken_as_well(steward, folder):
    (folder / "mine.yaml").write_text("version: 1\nextends: [base.yaml]\n")
    text = "version: 1\nextends: [ward.yaml]\n"
    answer = steward.send("/policies/mine.yaml/edit", text=text, digest=_digest(folder / "mine.yaml"))
    assert _is_refused(answer)


def test_the_own_name_stays_and_changes_to_one_that_nobody_has(steward, folder):
    path = folder / "ward.yaml"
    for text in (path.read_text() + "# more\n", path.read_text().replace("name: ward", "name: ward2")):
        assert steward.send("/policies/ward.yaml/edit", text=text, digest=_digest(path)).status_code == 303
        assert path.read_text() == text


def test_a_copy_and_a_frame_are_called_as_their_file(steward, folder):
    assert steward.send("/policies/new", name="copy", start="copy:ward.yaml").status_code == 303
    assert _name_in((folder / "copy.yaml").read_bytes()) == "copy"
    assert _is_refused(steward.send("/policies/new", name="new/ward", start="frame"))
    assert not (folder / "new").exists()


def test_a_name_that_was_taken_meanwhile_is_not_had_back(server: Server, steward, folder):
    path = folder / "ward.yaml"
    text = path.read_text()
    assert steward.send("/policies/ward.yaml/remove", digest=_digest(path)).status_code == 303
    (number,) = [version.number for version in server.site.policies.history.removed()]
    other = folder / "other.yaml"
    other.write_text(text)
    answer = steward.send(f"/policies/removed/{number}")
    assert answer.status_code == 409
    assert "other.yaml, is the policy `ward`" in answer.text
    other.unlink()
    assert steward.send(f"/policies/removed/{number}").status_code == 303
    assert path.read_text() == text


def test_what_has_one_name_already_is_saved_and_renamed_but_not_run(server: Server, steward, folder):
    second = _other(folder, "ward", "second.yaml")
    for file in ("second", "ward"):
        answer = steward.send(f"/policies/{file}.yaml/run")
        assert (answer.status_code, "is the policy `ward`" in answer.text) == (409, True)
        sweep = {"path_1": "privacy.k_anonymity.k", "values_1": "2,3"}
        assert steward.send(f"/policies/{file}.yaml/sweep", **sweep).status_code == 409
    more = second.read_text() + "# more\n"
    assert steward.send("/policies/second.yaml/edit", text=more, digest=_digest(second)).status_code == 303
    renamed = steward.send("/policies/second.yaml/rename", name="third.yaml", digest=_digest(second))
    assert renamed.status_code == 303
    third = folder / "third.yaml"
    text = more.replace("name: ward", "name: third")
    assert steward.send("/policies/third.yaml/edit", text=text, digest=_digest(third)).status_code == 303
    assert steward.send("/policies/ward.yaml/run").status_code == 303


@pytest.mark.slow
def test_a_name_that_a_policy_has_from_a_template_is_its_own_once_it_ran(server: Server, steward, folder):
    path = folder / "ward.yaml"
    text = path.read_text()
    (folder / "base.yml2").write_text(text)  # a template that is no file of the page
    path.write_text("version: 1\nextends: [base.yml2]\nsource: {path: people.csv}\n")
    assert steward.send("/policies/ward.yaml/run").status_code == 303
    job = server.site.jobs.of(server.users[PageRole.STEWARD])[0]
    job = server.site.jobs.finished(job, PATIENCE)
    assert job.made.startswith("ward/"), job.talk
    (folder / "mine.yaml").write_text(text)
    assert _is_refused(steward.send("/policies/mine.yaml/run"))


@pytest.mark.parametrize(("below", "status"), [("state/uploads/x.csv", 403), ("nowhere/x.csv", 303)])
def test_a_new_place_does_not_lead_to_a_private_file(server: Server, steward, folder, below: str, status: int):
    """A path that leads nowhere from one folder may lead into the private one from another."""
    path = _other(folder)
    path.write_text(path.read_text().replace("path: people.csv", f"path: ../../{below}"))
    copied = steward.send("/policies/new", name="a/copy", start="copy:mine.yaml")
    assert copied.status_code == status
    assert (folder / "a" / "copy.yaml").exists() is (status == 303)
    answer = steward.send("/policies/mine.yaml/rename", name="a/mine.yaml", digest=_digest(path))
    assert answer.status_code == status
    assert path.exists() is (status == 403)


def test_a_name_is_read_and_written_in_its_line_alone():
    text = "version: 1\n'name': \"ward\"  # of ward\nsteps:\n  name: other\n"
    assert named_after(text, "a/new.yaml") == text.replace('"ward"', '"new"')
    assert named_after("steps: {}\n", "a.yaml") == "steps: {}\n"
    assert named_after(text, "1.yaml") == text.replace('"ward"', '"policy-1"')


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"version: 1\n'name': \"ward\"  # of ward\nreleases: {}\n", "ward"),
        (b'{"version": 1, "name": "ward", "releases": {}}', "ward"),
        (b"version: 1\rname: ward\rreleases: {}\r", "ward"),
        (b" version: 1\n name: ward\n releases: {}\n", "ward"),
        (b'description: "x\n\n\nname: other\n"\nname: ward\nreleases: {}\n', "ward"),
        (b"name: ward\n", None),
        (b"name: ward\nreleases: {\n", None),
        (b"steps:\n  name: ward\nreleases: {}\n", None),
    ],
)
def test_only_a_policy_has_a_name_however_it_is_written(text: bytes, name: str | None):
    assert _name_in(text) == name
    assert identity_of(Path("x.test.yaml"), text).name is None
