"""The first run of a policy made from an upload: it reads that upload, and nobody sees a path of the server."""

from __future__ import annotations

import json

import pytest
from sites import PATIENCE, Browser, Server

from ppdm_flow.page.services.accounts.roles import PageRole

TABLE = b"age,town\n" + b"".join(b"%d,town %d\n" % (20 + number % 5, number % 2) for number in range(60))
STEWARD = PageRole.STEWARD


@pytest.fixture
def steward(server):
    return server.browser(STEWARD)


def _newest(server: Server):
    return server.site.jobs.finished(server.site.jobs.of(server.users[STEWARD])[0], PATIENCE)


def _policy_of(server: Server, steward: Browser, upload) -> str:
    """Make a policy of an upload as the page proposes it, and return its address."""
    steward.send("/form/new", upload=upload.id, header="guess")
    draft = _newest(server).leads_to
    page = steward.get(draft).text
    assert 'name="name" type="text" value="visits.yaml"' in page
    answer = steward.send(draft, name="visits.yaml")
    return str(answer.headers["location"]).partition("?")[0]


@pytest.mark.slow(quick=1)
def test_a_policy_made_from_an_upload_runs_on_it(server, steward):
    upload = server.upload(STEWARD, "visits.csv", TABLE)
    server.upload(STEWARD, "others.csv", TABLE)
    policy = _policy_of(server, steward, upload)
    page = steward.get(policy).text
    assert f'name="upload" value="{upload.id}"' in page
    assert "It runs on visits.csv, a table that you uploaded." in page
    assert f'<option value="{upload.id}" selected>' in steward.get(f"{policy}/run").text
    steward.send(f"{policy}/run", upload=upload.id)
    job = _newest(server)
    assert job.made, job.talk
    shown = steward.get(f"/jobs/{job.id}").text
    assert "--data visits.csv" in shown
    assert str(server.folder) in job.command + job.output
    assert str(server.folder) not in shown
    answer = steward.client.get(f"/jobs/{job.id}", headers={"hx-request": "true"})
    assert answer.headers["hx-redirect"] == f"/runs/{job.made}"
    run = steward.get(f"/runs/{job.made}").text
    assert run.index("Share</a>") < run.index("Open the whole report")


@pytest.mark.slow
def test_a_table_that_is_gone_is_asked_for(server, steward):
    upload = server.upload(STEWARD, "visits.csv", TABLE)
    policy = _policy_of(server, steward, upload)
    steward.send(f"/uploads/{upload.id}/remove")
    page = steward.get(policy).text
    assert "The table visits.csv is not here" in page
    assert 'class="button" href="/uploads"' in page
    other = server.upload(STEWARD, "more.csv", TABLE)
    assert f'class="button" href="{policy}/run"' in steward.get(policy).text
    assert f'<option value="{other.id}">more.csv</option>' in steward.get(f"{policy}/run").text
    again = server.upload(STEWARD, "visits.csv", TABLE)
    assert f'name="upload" value="{again.id}"' in steward.get(policy).text


@pytest.mark.slow
def test_a_run_without_its_table_leads_to_another(server, steward):
    policy = _policy_of(server, steward, server.upload(STEWARD, "visits.csv", TABLE))
    steward.send(f"{policy}/run")
    job = _newest(server)
    page = steward.get(f"/jobs/{job.id}").text
    assert "PPF701" in page
    assert str(server.folder) not in page
    assert f'class="button" href="{policy}/run">Choose another table' in page


@pytest.mark.slow
def test_the_file_that_a_policy_names_is_read_where_it_is_there(server, steward):
    policy = _policy_of(server, steward, upload := server.upload(STEWARD, "visits.csv", TABLE))
    (server.site.policies.folder / "visits.csv").write_bytes(TABLE)
    steward.send(f"/uploads/{upload.id}/remove")
    page = steward.get(policy).text
    assert "It runs on visits.csv, the file that the policy names." in page
    assert 'name="upload" value=""' in page


@pytest.mark.slow
def test_another_stewards_upload_is_nobodys_default(server, steward):
    policy = _policy_of(server, steward, upload := server.upload(STEWARD, "visits.csv", TABLE))
    server.users[PageRole.GUEST] = server.site.accounts.add("other", [STEWARD], "correct horse battery staple")
    page = server.browser(PageRole.GUEST).get(policy).text
    assert upload.id not in page
    assert "The table visits.csv is not here" in page


@pytest.mark.slow
def test_a_second_policy_of_a_table_has_a_name_of_its_own(server, steward):
    upload = server.upload(STEWARD, "visits.csv", TABLE)
    _policy_of(server, steward, upload)
    job = server.site.jobs.of(server.users[STEWARD])[0]
    assert 'value="visits-2.yaml"' in steward.get(job.leads_to).text
    assert json.loads(job.output)["rows"] == 60
