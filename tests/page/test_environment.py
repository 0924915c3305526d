"""The environment of the server is its own: policies of other people read of it what is named."""

from __future__ import annotations

import dataclasses
import os

import pytest
from sites import Server
from small_policies import write_policy

from ppdm_flow.core.addresses import BucketAddress
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.buckets.store import BUCKETS, Store
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs.jobs import environment_of
from ppdm_flow.page.serving.server import serve
from ppdm_flow.policy.params import ALLOWED
from ppdm_flow.sdk.databases.faults import DATABASES


class _StoppedError(Exception):
    """The server is ready, and goes."""


@pytest.mark.parametrize("named", [(), ("TEAM", "RELEASE_K")])
def test_the_server_says_which_variables_params_read(server: Server, monkeypatch, named):
    monkeypatch.setenv(ALLOWED, "EVERYTHING")
    monkeypatch.setenv(DATABASES, "any.example")
    monkeypatch.setenv(BUCKETS, "any")
    settings = dataclasses.replace(server.site.settings, port=0, param_variables=named, databases=("db.example",))
    settings = dataclasses.replace(settings, buckets=("study",))

    def ready(_address: str, _link: str | None) -> None:
        raise _StoppedError

    with pytest.raises(_StoppedError):
        serve(settings, ready)
    assert (os.environ[ALLOWED], os.environ[DATABASES]) == (",".join(named), "db.example")
    assert os.environ[BUCKETS] == "study"


def test_jobs_do_not_sign_in_as_the_machine_unless_that_is_lent(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key of the server")
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED", raising=False)
    own = environment_of(())
    assert own["AWS_EC2_METADATA_DISABLED"] == "true"
    assert "AWS_ACCESS_KEY_ID" not in own
    lent = environment_of(("AWS_EC2_METADATA_DISABLED", "AWS_ACCESS_KEY_ID"))
    assert "AWS_EC2_METADATA_DISABLED" not in lent
    assert lent["AWS_ACCESS_KEY_ID"] == "key of the server"


@pytest.mark.parametrize(
    ("named", "is_refused"), [("", True), ("other,study-2", True), ("other,study", False), (None, False)]
)
def test_a_bucket_that_nobody_named_is_not_asked(monkeypatch, named, is_refused: bool):
    asked = []
    monkeypatch.setattr("ppdm_flow.engine.buckets.store._file_system", asked.append)
    monkeypatch.delenv(BUCKETS, raising=False)
    if named is not None:
        monkeypatch.setenv(BUCKETS, named)
    address = BucketAddress("s3", "study", "people.csv")
    if is_refused:
        with pytest.raises(DataError, match="PPF491"):
            Store(address)
    else:
        Store(address)
    assert bool(asked) is not is_refused


@pytest.mark.slow
def test_what_a_policy_says_of_itself_shows_no_value_of_the_environment(server: Server, monkeypatch):
    monkeypatch.setenv("TEAM", "canary-team")
    policy = write_policy(server.folder / "policies")
    told = 'params: {team: {from_env: TEAM}}\ndescription: "a ward of ${params.team}"\nowner: nobody else\n'
    label = "{role: quasi_identifier, hierarchy: {levels: {a: ['${params.team}']}}}"
    policy.write_text(policy.read_text().replace("{role: quasi_identifier}", label) + told)
    for page in ("", "/resolved", "/edit", "/form", "/hierarchies", "/hierarchies/groups?attribute=zip"):
        got = server.browser(PageRole.STEWARD).get(f"/policies/ward.yaml{page}")
        assert got.status_code == 200
        assert "canary-team" not in got.text
    assert "nobody else" in server.browser(PageRole.STEWARD).get("/policies/ward.yaml").text
