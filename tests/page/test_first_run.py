"""The first run of a policy made from an upload: it reads that upload, and nobody sees a path of the server."""

from __future__ import annotations

import json
import re

import pytest
from sites import PATIENCE, Browser, Server

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.policy.loading import load

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


VISITS = b"name,patient,age,town,illness,remark\n" + b"".join(
    b"Anna %d,p%d,%d,town %d,%s,note %d\n"
    % (number, number // 3, 20 + number % 5, number % 2, (b"flu", b"cold", b"none")[number % 3], number % 4)
    for number in range(240)
)


def _draft(server: Server, steward: Browser) -> tuple[str, dict[str, int]]:
    """Have a table of visits looked at; return where its draft is, and the numbers of the columns."""
    upload = server.upload(STEWARD, "visits.csv", VISITS)
    steward.send("/form/new", upload=upload.id, header="guess")
    columns = VISITS.split(b"\n")[0].decode().split(",")
    return _newest(server).leads_to, {name: number for number, name in enumerate(columns)}


@pytest.mark.slow(quick=1)
def test_what_a_table_is_for_sets_audience_columns_and_how_people_are_counted(server, steward):
    draft, number = _draft(server, steward)
    page = steward.get(draft).text
    assert page.index("Who receives it?") < page.index("Role of age")
    studied = list(re.findall(r'name="studied" value="(\d+)" checked', page))
    assert str(number["name"]) not in re.findall(r'name="studied" value="(\d+)"', page), "it names people"
    answers = {
        "audience": "partner",
        "studied": [value for value in studied if value != str(number["remark"])],
        "person": str(number["patient"]),
        "known_rows": "2",
        "target": str(number["illness"]),
    }
    before = server.site.journal.newest(1)
    page = steward.send(f"{draft}/answers", name="visits.yaml", **answers).text
    assert server.site.journal.newest(1) == before, "nothing was made"
    assert "for a partner; everybody hides among at least 5 people" in page
    assert "nobody will study it, a steward said" in page
    assert 'value="partner" checked' in page
    roles = {f"role-{n}": _role(page, n) for n in number.values()}
    shown = {f"shown-{n}": roles[f"role-{n}"] for n in number.values()}
    assert roles[f"role-{number['patient']}"] == "subject"
    assert roles[f"role-{number['illness']}"] == "target"
    answer = steward.send(draft, name="visits.yaml", **answers, **roles, **shown)
    assert answer.status_code == 303, answer.text
    tree = load(server.site.policies.path("visits.yaml")).tree
    assert tree["releases"]["study"]["audience"] == "partner"
    assert tree["privacy"]["k_anonymity"]["k"] == "5"
    assert tree["people"] == {"known_rows": "2"}
    assert (tree["undeclared"], "remark" in tree["attributes"]) == ("drop", False)
    assert tree["attributes"]["illness"]["role"] == "target"
    assert server.site.checks.check("visits.yaml", server.site.policies.read("visits.yaml").text).valid


@pytest.mark.slow
def test_a_role_that_was_chosen_counts_for_more_than_an_answer(server, steward):
    draft, number = _draft(server, steward)
    age, remark = number["age"], number["remark"]
    answers = {"audience": "internal", "studied": [str(age), str(remark)], "person": ""}
    chosen = {f"role-{age}": "sensitive", f"shown-{age}": "quasi_identifier"}
    page = steward.send(f"{draft}/answers", name="visits.yaml", **answers, **chosen).text
    assert _role(page, age) == "sensitive"
    assert f'name="shown-{age}" value=""' in page
    page = steward.send(f"{draft}/answers", **answers, **{f"role-{age}": "sensitive", f"shown-{age}": ""}).text
    assert _role(page, age) == "sensitive"


@pytest.mark.slow
def test_answers_that_do_not_fit_the_table_are_refused(server, steward):
    draft, number = _draft(server, steward)
    refused = steward.send(draft, name="visits.yaml", audience="public", person="")
    assert (refused.status_code, "no column would leave" in refused.text) == (422, True)
    named = {"studied": str(number["name"]), "audience": "public", "person": ""}
    refused = steward.send(draft, name="visits.yaml", **named)
    assert (refused.status_code, "names people by itself" in refused.text) == (422, True)
    steward.send(draft, name="visits.yaml", audience="public", studied=str(number["age"]), target=str(number["name"]))
    tree = load(server.site.policies.path("visits.yaml")).tree
    assert tree["attributes"]["name"]["role"] == "identifier", "no answer lets it leave"
    assert tree["privacy"]["k_anonymity"]["k"] == "10"


def _role(page: str, number: int) -> str:
    select = re.search(rf'<select name="role-{number}".*?</select>', page, re.DOTALL)[0]
    return str(re.search(r'value="(\w+)" selected', select)[1])
