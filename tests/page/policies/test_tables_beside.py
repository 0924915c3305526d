"""Tables beside policies may be data: no page of a policy shows them to anybody."""

from __future__ import annotations

import subprocess

import pytest
from sites import Server
from small_policies import write_policy
from walk import filled, parts, routes

from ppdm_flow.page.services.accounts.roles import PageRole

CANARY = "canary-4711"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("role", [PageRole.STEWARD, PageRole.APPROVER])
def test_a_table_is_no_policy(server: Server, role):
    folder = server.folder / "policies"
    write_policy(folder)
    with (folder / "people.csv").open("a") as table:
        table.write(f"33,100,{CANARY}\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    browser = server.browser(role)
    for route in routes("GET", with_parts=True):
        if parts(route) == ["policy"] and route.access.allows(server.users[role]):
            answers = [browser.get(filled(route, {"policy": name})) for name in ("people.csv", "ward.yaml")]
            assert answers[0].status_code == 404, route.path
            assert CANARY not in answers[0].text + answers[1].text, route.path
    assert browser.get("/policies/ward.yaml").status_code == 200
