"""What a bound costs: measured on the whole table by a job, shown once it is there, and never for another policy."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from sites import PATIENCE, Browser, Server
from small_policies import write_policy

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs import jobs
from ppdm_flow.page.services.jobs.job import JobState
from ppdm_flow.page.views.runs import costs
from ppdm_flow.policy.edit.changes import from_json, put

STEWARD = PageRole.STEWARD
COSTS = "/policies/ward.yaml/costs"
K = "privacy.k_anonymity.k"


@pytest.fixture
def steward(server: Server) -> Browser:
    write_policy(server.folder / "policies")
    return server.browser(STEWARD)


def _begun(server: Server, steward: Browser):
    assert steward.send(COSTS, place=K).headers["location"] == COSTS
    return server.site.jobs.of(server.users[STEWARD])[0]


@pytest.mark.parametrize(
    ("now", "values"),
    [
        ("5", ("2", "3", "4", "5", "7", "10", "15")),
        ("2", ("2", "3", "4", "5")),
        ("6", ("3", "4", "5", "6", "7", "10", "15")),
        ("0.75", ("0.5", "0.6", "0.7", "0.75", "0.8", "0.9", "0.95")),
        ("5000", ("300", "500", "1000", "5000")),
    ],
)
def test_a_bound_is_measured_at_seven_values_at_most(now, values):
    assert costs.nearby(now) == values


@pytest.mark.slow
def test_a_bound_is_measured_on_the_whole_table_as_a_sweep_measures_it(server: Server, steward: Browser):
    page = steward.get(COSTS).text
    assert (K.split(".")[1] in page, "Measure what it costs" in page, "mean_kept" in page) == (True, True, False)
    job = server.site.jobs.finished(_begun(server, steward), PATIENCE)
    assert (job.kind, job.state, job.leads_to) == ("sweep", JobState.DONE, COSTS)
    assert f"--over={K}=2,3,4,5,7,10,15" in job.words
    page = steward.get(COSTS).text
    assert "Measure what it costs" not in page
    document = json.loads(next(job.folder.glob("sweep/*/*/sweep.json")).read_text())
    kept = [f"{100 * each['metrics']['information_kept.mean_kept']['value']:.3g}%" for each in document["points"]]
    assert re.findall(r'data-label="Information kept">([^<]+)<', page) == kept
    assert "<svg" in page
    links = re.findall(r'href="(/policies/ward\.yaml/propose\?[^"]+)">See the edit', page)
    assert len(links) == 6, "not the value of today"
    assert put(tuple(K.split(".")), "10") in [
        change
        for link in links
        for change in from_json(steward.client.build_request("GET", unescape(link)).url.params["changes"])
    ]
    assert 'href="/policies/ward.yaml/costs"' in steward.get("/policies/ward.yaml").text


@pytest.mark.slow
def test_figures_of_another_policy_or_another_table_are_not_shown(server: Server, steward: Browser):
    server.site.jobs.finished(_begun(server, steward), PATIENCE)
    path = server.folder / "policies/ward.yaml"
    text = path.read_text()
    assert "would be released" in steward.get(COSTS).text
    path.write_text(text.replace("k: 5", "k: 4"))
    assert "would be released" not in steward.get(COSTS).text
    path.write_text(text)
    server.site.jobs.finished(_begun(server, steward), PATIENCE)
    assert "would be released" in steward.get(COSTS).text
    upload = server.upload(STEWARD, "people.csv", (server.folder / "policies/people.csv").read_bytes())
    server.site.uploads.set_policy_upload(server.users[STEWARD], "ward.yaml", upload)
    assert "would be released" not in steward.get(COSTS).text


@pytest.mark.slow
def test_while_it_is_measured_no_figure_is_shown_and_it_can_be_cancelled(server: Server, steward: Browser, monkeypatch):
    monkeypatch.setattr(jobs.Jobs, "_watch", lambda _self: None)
    job = _begun(server, steward)
    page = steward.get(COSTS).text
    assert 'aria-busy="true"' in page
    assert page.count("not measured yet") == 7
    assert "waits for its turn" in page
    assert f'action="/jobs/{job.id}/cancel"' in page
    part = steward.client.get(COSTS, headers={"hx-request": "true"}).text
    assert part.lstrip().startswith('<div id="costs" hx-get=')
    server.site.jobs._records.begin(job.id)
    job.stderr.parent.mkdir(parents=True, exist_ok=True)
    job.stderr.write_text("1 of 7: k=2: released in 2 s\n2 of 7: k=3: released in 1 s\n")
    page = steward.get(COSTS).text
    assert re.search(r"2 of 7 values are measured; about [\d.]+ (ms|s|min) left", page)
    assert page.count("not measured yet") == 7
    server.site.jobs._records.end(job.id, JobState.CANCELLED, None, "", "", cut=False)
    assert steward.send(f"/jobs/{job.id}/cancel", back=COSTS).headers["location"] == f"{COSTS}?said=jobs.is_cancelled"
    assert steward.send(f"/jobs/{job.id}/cancel", back="//x").headers["location"].startswith(f"/jobs/{job.id}?")
    page = steward.get(COSTS).text
    assert ("not measured yet" in page, "Measure what it costs" in page) == (False, True)


def test_only_bounds_of_the_policy_are_measured(server: Server, steward: Browser):
    for place in ("", "privacy.k_anonymity.q", "steps.groups.use", "name", "privacy"):
        assert steward.send(COSTS, place=place).status_code == 404, place
    assert server.site.jobs.of(server.users[STEWARD]) == []


@pytest.mark.slow
def test_values_that_a_template_forbids_are_not_measured(server: Server, steward: Browser):
    (server.folder / "policies/house.yaml").write_text("version: 1\nfloors: {privacy.k_anonymity.k: '>= 5'}\n")
    path = server.folder / "policies/ward.yaml"
    path.write_text(path.read_text().replace("name: ward\n", "name: ward\nextends: [{template: ./house.yaml}]\n"))
    assert f"--over={K}=5,7,10,15" in _begun(server, steward).words
