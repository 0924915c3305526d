"""Waivers on the page: all of them with their last days, and a new one as an edit of its policy."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from people_with_keys import POLICY
from sites import Server

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.views import waivers
from ppdm_flow.policy import load
from ppdm_flow.policy.edit.changes import from_json, put
from ppdm_flow.policy.edit.edited import edited

WAIVERS = """
waivers:
  late: {of: gates.many, reason: agreed <b>once</b>, owner: dpo, until: 2020-01-31}
  soon: {of: PPF551, at: attributes.disease, reason: known, owner: dpo, until: 2999-01-31, signed_by: data-owner}
"""
NEW = {"name": "few", "of": "gates.many", "reason": "[a=b. and: c]", "owner": "dpo", "until": "2027-03-31"}


@pytest.fixture
def policies(server: Server):
    """The folder of policies with one that has waivers, one without, and one with errors."""
    folder = server.site.settings.policies
    text = POLICY.replace("approvals: {roles: [data-owner], signers: signers.yaml}\n", "")
    (folder / "ward.yaml").write_text(text + WAIVERS)
    (folder / "plain.yaml").write_text(text.replace("name: ward", "name: plain"))
    (folder / "broken.yaml").write_text(text + "privcy: {}\nprivacy: 1\n")
    return folder


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("role", [PageRole.STEWARD, PageRole.APPROVER])
def test_all_waivers_are_listed_with_their_last_days(server: Server, policies, role):
    page = server.browser(role).get("/waivers").text
    assert "2020-01-31" in page
    assert "expired" in page
    assert "<b>once</b>" not in page
    assert "data-owner" in page
    assert "has errors" in page
    assert ("/waivers/new/ward.yaml" in page) == (role is PageRole.STEWARD)


def test_the_waivers_of_all_policies_make_no_page_without_end(server: Server, policies, monkeypatch):
    """Authors of policies decide how many they have, and how long their reasons are."""
    plain = (policies / "plain.yaml").read_text()
    many = "".join(
        f"  w{n:03}: {{of: PPF551, at: attributes.a{n}, reason: {'x' * 5_000}, owner: dpo, until: 2999-01-31}}\n"
        for n in range(150)
    )
    (policies / "plain.yaml").write_text(f"{plain}\nwaivers:\n{many}")
    browser = server.browser(PageRole.STEWARD)
    page = browser.get("/waivers").text
    assert ("w099" in page, "w100" in page, "50 more stand in the policy" in page) == (True, False, True)
    assert len(page) < 150_000
    assert "agreed &lt;b&gt;once" in page
    monkeypatch.setattr(waivers, "_MOST", 10)
    page = browser.get("/waivers").text
    assert ("w009" in page, "w010" in page, "140 more stand" in page, "2 more stand" in page) == (
        True,
        False,
        True,
        True,
    )


def test_a_new_waiver_is_offered_as_an_edit(server: Server, policies):
    browser = server.browser(PageRole.STEWARD)
    assert 'value="gates.many"' in browser.get("/waivers/new/ward.yaml", of="gates.many").text
    before = (policies / "ward.yaml").read_bytes()
    answer = browser.send("/waivers/new/ward.yaml", **NEW)
    assert answer.status_code == 303
    there = urlsplit(answer.headers["location"])
    assert there.path == "/policies/ward.yaml/propose"
    asked = parse_qs(there.query)
    assert asked["back"] == ["/waivers"]
    wanted = {key: value for key, value in NEW.items() if key != "name"}
    assert from_json(asked["changes"][0]) == (put(("waivers", "few"), wanted),)
    (policies / "new.yaml").write_text(edited(before.decode(), from_json(asked["changes"][0])))
    assert load(policies / "new.yaml").policy.waivers["few"].reason == NEW["reason"]
    assert (policies / "ward.yaml").read_bytes() == before
    shown = browser.get(answer.headers["location"])
    assert shown.status_code == 200
    assert NEW["reason"] in shown.text


@pytest.mark.parametrize(
    "wrong",
    [{"name": ""}, {"name": "a.b"}, {"name": "few.of=x"}, {"until": "soon"}, {"reason": " "}, {"owner": "a\nb"}],
)
def test_what_cannot_be_a_waiver_is_said_at_its_field(server: Server, policies, wrong):
    answer = server.browser(PageRole.STEWARD).send("/waivers/new/ward.yaml", **{**NEW, **wrong})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.text


def test_a_waiver_that_no_address_could_hold_is_refused(server: Server, policies):
    browser, long = server.browser(PageRole.STEWARD), "\N{GRINNING FACE}" * 1_000
    refused = browser.send("/waivers/new/ward.yaml", **{**NEW, "reason": long, "owner": long, "at": long})
    assert refused.status_code == 413
    assert "too long" in refused.text
    assert browser.send("/waivers/new/ward.yaml", **{**NEW, "reason": long}).status_code == 303


def test_waivers_of_policies_that_are_not_there(server: Server, policies):
    browser = server.browser(PageRole.STEWARD)
    for name in ("nothing.yaml", "..%2fstate%2fpage.sqlite3", "%2fetc%2fpasswd"):
        assert browser.get(f"/waivers/new/{name}").status_code == 404
        assert browser.send(f"/waivers/new/{name}", **NEW).status_code == 404
    assert server.browser(PageRole.APPROVER).get("/waivers/new/ward.yaml").status_code == 403
