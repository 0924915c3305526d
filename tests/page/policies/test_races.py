"""Several people change one policy at the same moment: one of them does, and the others are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from sites import Server
from small_policies import write_policy
from together import together

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.policies import policies
from ppdm_flow.page.services.policies.policies import PolicyFiles, UnknownPolicyError


@pytest.mark.slow
def test_of_those_who_save_rename_and_remove_at_once_one_does_and_nothing_is_lost(server: Server):
    browsers = [server.browser(PageRole.STEWARD) for _ in range(3)]
    site = server.site
    for turn in range(12):
        text = write_policy(server.folder / "policies").read_text()
        digest = site.policies.read("ward.yaml").digest
        forms = (
            ("edit", {"text": f"{text}# {turn}\n"}),
            ("rename", {"name": f"moved-{turn}.yaml"}),
            ("remove", {}),
        )
        answers = together(
            *(
                lambda browser=browser, form=form, digest=digest: browser.send(
                    f"/policies/ward.yaml/{form[0]}", digest=digest, **form[1]
                )
                for browser, form in zip(browsers, forms, strict=True)
            )
        )
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses[0] == 303, statuses
        assert set(statuses[1:]) <= {404, 409}, statuses
        names = {file.name for file in site.policies.list()}
        history = site.policies.history
        kept = [history.version(each.number).text for each in history.removed()]
        assert "ward.yaml" in names or f"moved-{turn}.yaml" in names or text in kept


@pytest.mark.parametrize("verb", ["write", "rename", "remove"])
def test_a_policy_that_goes_while_it_is_changed_is_missing(server: Server, monkeypatch, verb):
    write_policy(server.folder / "policies")

    def gone(*_words: object) -> None:
        raise UnknownPolicyError("ward.yaml")

    monkeypatch.setattr(PolicyFiles, verb, gone)
    page = "edit" if verb == "write" else verb
    got = server.browser(PageRole.STEWARD).send(f"/policies/ward.yaml/{page}", name="a.yaml", text="a: 1", digest="")
    assert got.status_code == 404


def test_a_policy_that_goes_between_the_look_and_the_reading_is_missing(server: Server, monkeypatch):
    file = write_policy(server.folder / "policies")
    browser = server.browser(PageRole.STEWARD)
    looked = PolicyFiles.path

    def gone(self: PolicyFiles, name: str) -> Path:
        path = looked(self, name)
        path.unlink(missing_ok=True)
        return path

    monkeypatch.setattr(PolicyFiles, "path", gone)
    assert browser.send("/policies/ward.yaml/edit", text="a: 1", digest="").status_code == 404
    monkeypatch.undo()
    seen = policies.files_below

    def listed_and_gone(*words: object) -> dict[str, Path]:
        files = seen(*words)
        (server.folder / "policies" / "ward.yaml").unlink(missing_ok=True)
        return files

    write_policy(server.folder / "policies")
    assert "ward.yaml" in {each.name for each in server.site.policies.list()}
    monkeypatch.setattr(policies, "files_below", listed_and_gone)
    assert "ward.yaml" not in {each.name for each in server.site.policies.list()}
    assert not file.exists()
