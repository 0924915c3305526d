"""The environment of the server is its own: policies of other people read of it what is named."""

from __future__ import annotations

import dataclasses
import os

import pytest
from sites import Server
from small_policies import write_policy

from ppdm_flow.page.services.accounts.roles import Role
from ppdm_flow.page.serving.server import serve
from ppdm_flow.policy.params.environment import ALLOWED
from ppdm_flow.sdk.databases.faults import DATABASES


class _StoppedError(Exception):
    """The server is ready, and goes."""


@pytest.mark.parametrize("named", [(), ("TEAM", "RELEASE_K")])
def test_the_server_says_which_variables_params_read(server: Server, monkeypatch, named):
    monkeypatch.setenv(ALLOWED, "EVERYTHING")
    monkeypatch.setenv(DATABASES, "any.example")
    settings = dataclasses.replace(server.site.settings, port=0, param_variables=named, databases=("db.example",))

    def ready(_address: str, _link: str | None) -> None:
        raise _StoppedError

    with pytest.raises(_StoppedError):
        serve(settings, ready)
    assert (os.environ[ALLOWED], os.environ[DATABASES]) == (",".join(named), "db.example")


@pytest.mark.slow
def test_what_a_policy_says_of_itself_shows_no_value_of_the_environment(server: Server, monkeypatch):
    monkeypatch.setenv("TEAM", "canary-team")
    policy = write_policy(server.folder / "policies")
    told = 'params: {team: {from_env: TEAM}}\ndescription: "a ward of ${params.team}"\nowner: nobody else\n'
    policy.write_text(policy.read_text() + told)
    for page in ("", "/resolved", "/edit", "/form"):
        got = server.browser(Role.STEWARD).get(f"/policies/ward.yaml{page}")
        assert got.status_code == 200
        assert "canary-team" not in got.text
    assert "nobody else" in server.browser(Role.STEWARD).get("/policies/ward.yaml").text
