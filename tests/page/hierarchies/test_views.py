"""The pages of hierarchies: counted by a job, made by forms alone, saved as a change of the policy or as a file."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from sites import PATIENCE, Server

from ppdm_flow import api
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.bounded import BoundedCalls
from ppdm_flow.policy.edit.changes import from_json
from ppdm_flow.policy.edit.edited import edited

POLICY = """\
version: 1
name: clinic
source: {path: clinic.csv, missing: ["", "?"]}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 60, 120]}}  # by decades
  job: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  k_anonymity: {k: 2}
steps:
  recode: {use: full_domain_recoding, with: {suppression: 0.5}}
releases:
  out: {path: out.csv}
"""
ROWS = [
    ("nurse", 23),
    ("nurse", 31),
    ("doctor", 45),
    ("doctor", 45),
    ("clerk", 59),
    ("driver", 17),
    ("?", 61),
    ("clerk", 80),
]
DATA = "age,job,illness\n" + "".join(f"{age},{job},flu\n" for job, age in ROWS)
PLACE = "/policies/clinic.yaml/hierarchies"


@pytest.fixture
def clinic(server: Server) -> Server:
    (server.folder / "policies" / "clinic.yaml").write_text(POLICY)
    return server


def _counted(server: Server, browser, attribute: str) -> str:
    """Upload the data, have a column counted, and return the upload."""
    upload = server.upload(PageRole.STEWARD, "clinic.csv", DATA.encode()).id
    answer = browser.send(f"{PLACE}/count", attribute=attribute, upload=upload, page="intervals")
    assert answer.status_code == 303, answer.text
    (job,) = server.site.jobs.of(server.users[PageRole.STEWARD])
    done = server.site.jobs.finished(job, PATIENCE)
    assert done.exit_code == 0, done.talk
    return upload


def _proposal(answer) -> tuple[str, str]:
    """Return the policy's text that an answer proposes, and the page that it leads back to."""
    assert answer.status_code == 303, answer.text
    address = urlsplit(answer.headers["location"])
    assert address.path == "/policies/clinic.yaml/propose"
    query = parse_qs(address.query)
    return edited(POLICY, from_json(query["changes"][0])), query["back"][0]


def _group(browser, deed: str, upload: str = "", **fields) -> str:
    answer = browser.send(f"{PLACE}/groups/change", attribute="job", upload=upload, deed=deed, **fields)
    assert answer.status_code == 303, answer.text
    return browser.client.get(answer.headers["location"]).text


def test_attributes_are_listed_with_what_they_have(clinic: Server):
    page = clinic.browser(PageRole.STEWARD).get(PLACE)
    assert page.status_code == 200
    assert re.findall(r'<th scope="row">(.+?)</th>', page.text) == ["age", "job", "illness"]
    assert "intervals?attribute=age" in page.text


@pytest.mark.slow
def test_values_are_counted_by_the_verb_and_read_as_the_policy_says(clinic: Server):
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "job")
    (job,) = clinic.site.jobs.of(clinic.users[PageRole.STEWARD])
    assert job.words[0] == "hierarchy"
    assert "--counts" in job.words
    page = browser.get(f"{PLACE}/groups", attribute="job", upload=upload).text
    assert "7 rows, 4 different values" in page
    assert re.findall(r'data-member="(.+?)"', page) == ["clerk", "doctor", "nurse", "driver"]
    assert browser.get(f"{PLACE}/counting", attribute="job", upload=upload).headers["hx-refresh"] == "true"
    (counts,) = (clinic.folder / "state" / "hierarchies" / upload).glob("*.counts.csv")
    assert counts.parent.stat().st_mode & 0o777 == 0o700
    clinic.site.hierarchies.tidy()
    assert counts.exists()
    clinic.site.uploads.remove(clinic.users[PageRole.STEWARD], upload)
    clinic.site.hierarchies.tidy()
    assert not counts.parent.exists()


@pytest.mark.slow
def test_a_policy_with_faults_does_not_keep_its_values_from_being_counted(clinic: Server):
    file = clinic.folder / "policies" / "clinic.yaml"
    file.write_text(POLICY.replace("full_domain_recoding", "no_such_step"))
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "job")
    assert "8 rows, 5 different values" in browser.get(f"{PLACE}/groups", attribute="job", upload=upload).text


@pytest.mark.slow
def test_rows_stand_beside_intervals_and_follow_the_form(clinic: Server):
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "age")
    page = browser.get(f"{PLACE}/intervals", attribute="age", upload=upload).text
    assert 'class="picture chart histogram"' in page
    assert re.findall(r'name="edge" value="(.*?)"', page) == ["0", "30", "60", "120", ""]
    cells = re.findall(r'<th scope="row">(.+?)</th><td class="number">(\d+)</td>', page)
    assert cells == [("[0, 30)", "2"), ("[30, 60)", "4"), ("[60, 120)", "2")]
    asked = {"attribute": "age", "upload": upload, "edge": ["60", "20", "", "40"], "then": "2", "open_ends": "above"}
    changed = browser.send(f"{PLACE}/intervals/counts", **asked)
    cells = re.findall(r'<th scope="row">(.+?)</th><td class="number">(\d+)</td>', changed.text)
    assert [tuple(cell) for cell in cells] == [
        ("[20, 40)", "2"),
        ("[40, 60)", "3"),
        ("&gt;= 60", "2"),
        ("[20, 60)", "5"),
        ("&gt;= 60", "2"),
    ]
    assert "1 rows lie outside" in changed.text
    part = browser.client.post(
        f"{PLACE}/intervals/counts", data={**asked, "form_token": browser.token()}, headers={"hx-request": "true"}
    )
    assert part.text.lstrip().startswith('<section id="levels"')


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    "fields",
    [
        {"edge": ["5"]},
        {"edge": ["5", "x"]},
        {"edge": ["5", "1e999"]},
        {"edge": ["0", "5"], "then": "1"},
        {"edge": ["0", "5"], "then": "2,x"},
        {"edge": [str(n) for n in range(300)]},
    ],
)
def test_what_is_no_hierarchy_is_not_proposed(clinic: Server, fields):
    browser = clinic.browser(PageRole.STEWARD)
    assert browser.send(f"{PLACE}/intervals", attribute="age", **fields).status_code == 400
    assert browser.send(f"{PLACE}/intervals/counts", attribute="age", **fields).status_code == 200


def test_intervals_become_a_change_of_the_policy_that_touches_nothing_else(clinic: Server):
    browser = clinic.browser(PageRole.STEWARD)
    answer = browser.send(f"{PLACE}/intervals", attribute="age", edge=["0", "18", "65.5", "120"], then="2")
    text, back = _proposal(answer)
    assert back == PLACE
    assert text == POLICY.replace("{intervals: [0, 30, 60, 120]}", "{intervals: [0, 18, 65.5, 120], then: [2]}")
    plain, _ = _proposal(browser.send(f"{PLACE}/intervals", attribute="age", edge=["0", "50", "120"], then=""))
    assert plain == POLICY.replace("[0, 30, 60, 120]", "[0, 50, 120]")


@pytest.mark.slow
def test_an_attribute_without_a_type_gets_that_of_its_numbers(clinic: Server):
    (clinic.folder / "policies" / "clinic.yaml").write_text(POLICY.replace("type: integer, ", ""))
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "age")
    answer = browser.send(f"{PLACE}/intervals", attribute="age", upload=upload, edge=["0", "50", "120"])
    changes = json.loads(parse_qs(urlsplit(answer.headers["location"]).query)["changes"][0])
    assert {"path": ["attributes", "age", "type"], "value": "integer"} in changes


def test_what_a_template_says_otherwise_is_taken_away(clinic: Server):
    policies = clinic.folder / "policies"
    (policies / "base.yaml").write_text("attributes:\n  job: {hierarchy: {prefix: [2, 1]}}\n")
    text = POLICY.replace("source:", "extends: [{template: ./base.yaml}]\nsource:")
    (policies / "clinic.yaml").write_text(text)
    answer = clinic.browser(PageRole.STEWARD).send(f"{PLACE}/intervals", attribute="job", edge=["0", "5"])
    changes = parse_qs(urlsplit(answer.headers["location"]).query)["changes"][0]
    (policies / "clinic.yaml").write_text(edited(text, from_json(changes)))
    outcome = api.check([policies / "clinic.yaml"])
    assert [each.code for each in outcome.diagnostics if each.code in ("PPF583", "PPF518")] == []


@pytest.mark.slow
def test_values_are_put_into_groups_and_written_as_a_file_that_the_policy_names(clinic: Server):
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "job")
    page = _group(browser, "move", upload, level="0", member=["nurse", "doctor"], group="", name="care")
    assert re.findall(r'data-group="(.+?)"', page) == ["care"]
    assert "2 inside · 4 rows" in page
    _group(browser, "raise", upload)
    page = _group(browser, "move", upload, level="1", member=["clerk", "driver"], group="", name="service")
    assert "2 inside · 3 rows" in page
    saved = browser.send(f"{PLACE}/groups", attribute="job", upload=upload, digest="")
    text, _ = _proposal(saved)
    assert "job: {role: quasi_identifier, hierarchy: {csv: hierarchies/clinic.job.csv}}" in text
    file = clinic.folder / "policies" / "hierarchies" / "clinic.job.csv"
    assert file.read_text() == (
        "clerk;clerk;service;*\ndoctor;care;care;*\nnurse;care;care;*\ndriver;driver;service;*\n"
    )
    data = clinic.folder / "clinic.csv"
    data.write_text(DATA)
    (clinic.folder / "policies" / "clinic.yaml").write_text(text)
    fit = api.check_hierarchy(file, data, "job", policy=clinic.folder / "policies" / "clinic.yaml")
    assert fit.holds
    assert fit.labels == (3, 2, 1)


def test_groups_that_the_policy_names_are_changed_in_place_and_nobody_overwrites_what_they_did_not_see(clinic: Server):
    policies = clinic.folder / "policies"
    made = clinic.site.policies.create("jobs.csv", "nurse,care,*\ndoctor,care,*\n", clinic.users[PageRole.STEWARD])
    (policies / "clinic.yaml").write_text(
        POLICY.replace(
            "job: {role: quasi_identifier}", 'job: {role: quasi_identifier, hierarchy: {csv: jobs.csv, delimiter: ","}}'
        )
    )
    browser = clinic.browser(PageRole.STEWARD)
    page = browser.get(f"{PLACE}/groups", attribute="job").text
    digest = re.search(r'name="digest" value="(.*?)"', page)[1]
    _group(browser, "rename", level="0", group="care", name="health")
    other = clinic.users[PageRole.APPROVER]
    clinic.site.policies.write("jobs.csv", "nurse,other,*\ndoctor,care,*\n", made.digest, other)
    assert browser.send(f"{PLACE}/groups", attribute="job", digest=digest).status_code == 400
    assert (policies / "jobs.csv").read_text() == "nurse,other,*\ndoctor,care,*\n"
    page = browser.get(f"{PLACE}/groups", attribute="job").text
    assert "health" in page
    digest = re.search(r'name="digest" value="(.*?)"', page)[1]
    answer = browser.send(f"{PLACE}/groups", attribute="job", digest=digest)
    assert answer.headers["location"].startswith(f"{PLACE}/groups?")
    assert (policies / "jobs.csv").read_text() == "nurse,health,*\ndoctor,health,*\n"


@pytest.mark.parametrize("changed", [False, True])
def test_a_table_that_the_page_did_not_make_is_not_written_over(clinic: Server, changed: bool):
    policies, table = clinic.folder / "policies", "nurse;care;*\ndoctor;care;*\n"
    if changed:
        clinic.site.policies.create("jobs.csv", "nurse;all\n", clinic.users[PageRole.STEWARD])
    (policies / "jobs.csv").write_text(table)
    named = "job: {role: quasi_identifier, hierarchy: {csv: jobs.csv}}"
    (policies / "clinic.yaml").write_text(POLICY.replace("job: {role: quasi_identifier}", named))
    browser = clinic.browser(PageRole.STEWARD)
    page = browser.get(f"{PLACE}/groups", attribute="job").text
    _group(browser, "rename", level="0", group="care", name="health")
    answer = browser.send(f"{PLACE}/groups", attribute="job", digest=re.search(r'name="digest" value="(.*?)"', page)[1])
    assert "hierarchies%2Fclinic.job.csv" in answer.headers["location"]
    assert (policies / "jobs.csv").read_text() == table
    assert "health" in (policies / "hierarchies" / "clinic.job.csv").read_text()


@pytest.mark.parametrize("line", ["nurse;care;{:0900}\n", "{};b;c\n"])
def test_a_large_table_that_the_policy_names_is_not_read_as_groups(clinic: Server, line: str):
    policies = clinic.folder / "policies"
    named = "job: {role: quasi_identifier, hierarchy: {csv: jobs.csv}}"
    (policies / "clinic.yaml").write_text(POLICY.replace("job: {role: quasi_identifier}", named))
    browser = clinic.browser(PageRole.STEWARD)
    (policies / "jobs.csv").write_text("".join(map(line.format, range(50_001))))
    said = "larger than 4 MB or 50,000 lines"
    assert said in browser.get(f"{PLACE}/groups", attribute="job").text
    (policies / "jobs.csv").write_text("nurse;care;*\n")
    page = browser.get(f"{PLACE}/groups", attribute="job").text
    assert "care" in page
    assert said not in page


@pytest.mark.slow
def test_the_file_that_the_policy_names_is_checked_by_the_verb(clinic: Server):
    policies = clinic.folder / "policies"
    (policies / "jobs.csv").write_text("nurse,care,*\ndoctor,care,*\n")
    named = 'job: {role: quasi_identifier, hierarchy: {csv: jobs.csv, delimiter: ","}}'
    (policies / "clinic.yaml").write_text(POLICY.replace("job: {role: quasi_identifier}", named))
    browser = clinic.browser(PageRole.STEWARD)
    upload = clinic.upload(PageRole.STEWARD, "clinic.csv", DATA.encode()).id
    answer = browser.send(f"{PLACE}/check", attribute="job", upload=upload)
    (job,) = clinic.site.jobs.of(clinic.users[PageRole.STEWARD])
    assert answer.headers["location"] == f"/jobs/{job.id}"
    done = clinic.site.jobs.finished(job, PATIENCE)
    assert done.exit_code == 1
    assert "2 of the data's 4 values stand in it (4 of 7 rows)" in done.output
    assert browser.send(f"{PLACE}/check", attribute="age", upload=upload).status_code == 404
    assert browser.send(f"{PLACE}/check", attribute="job").status_code == 404


def test_a_file_that_another_policy_names_too_is_left_alone(clinic: Server):
    policies = clinic.folder / "policies"
    clinic.site.policies.create("jobs.csv", "nurse;care;*\ndoctor;care;*\n", clinic.users[PageRole.STEWARD])
    text = POLICY.replace("job: {role: quasi_identifier}", "job: {role: quasi_identifier, hierarchy: {csv: jobs.csv}}")
    (policies / "clinic.yaml").write_text(text)
    (policies / "other.yaml").write_text(text.replace("clinic", "other"))
    browser = clinic.browser(PageRole.STEWARD)
    page = browser.get(f"{PLACE}/groups", attribute="job").text
    _group(browser, "rename", level="0", group="care", name="health")
    answer = browser.send(f"{PLACE}/groups", attribute="job", digest=re.search(r'name="digest" value="(.*?)"', page)[1])
    assert "hierarchies%2Fclinic.job.csv" in answer.headers["location"]
    assert (policies / "jobs.csv").read_text() == "nurse;care;*\ndoctor;care;*\n"


def test_only_tables_of_the_folder_of_policies_are_shown(clinic: Server):
    (clinic.folder / "secret.csv").write_text("alice;patient;*\nbob;patient;*\n")
    policies = clinic.folder / "policies"
    (policies / "link.csv").symlink_to(clinic.folder / "secret.csv")
    for named in ("../secret.csv", str(clinic.folder / "secret.csv"), "link.csv", "/etc/passwd", "nothing.csv"):
        (policies / "clinic.yaml").write_text(
            POLICY.replace(
                "job: {role: quasi_identifier}", f"job: {{role: quasi_identifier, hierarchy: {{csv: {named}}}}}"
            )
        )
        page = clinic.browser(PageRole.STEWARD).get(f"{PLACE}/groups", attribute="job")
        assert page.status_code == 200
        assert "alice" not in page.text
        assert "root" not in page.text


def test_levels_and_orders_of_the_policy_are_where_groups_begin(clinic: Server):
    policies = clinic.folder / "policies"
    for form in ("levels: {nurse: [care], doctor: [care], clerk: [clerk]}", "order: [nurse, doctor, clerk], then: [2]"):
        (policies / "clinic.yaml").write_text(
            POLICY.replace("job: {role: quasi_identifier}", f"job: {{role: quasi_identifier, hierarchy: {{{form}}}}}")
        )
        page = clinic.browser(PageRole.STEWARD).get(f"{PLACE}/groups", attribute="job").text
        assert set(re.findall(r'data-member="(.+?)"', page)) == {"nurse", "doctor", "clerk"}
        assert len(re.findall(r'data-group="(.+?)"', page)) == 1


@pytest.mark.slow
def test_another_persons_upload_and_what_is_not_there_are_not_found(clinic: Server):
    other = clinic.upload(PageRole.APPROVER, "clinic.csv", DATA.encode()).id
    browser = clinic.browser(PageRole.STEWARD)
    for page in ("intervals", "groups", "rules", "counting"):
        assert browser.get(f"{PLACE}/{page}", attribute="job", upload=other).status_code == 404
        assert browser.get(f"{PLACE}/{page}", attribute="nothing").status_code == 404
        assert browser.get(f"{PLACE}/{page}", attribute="job", upload="../../x").status_code == 404
        assert browser.get(f"/policies/none.yaml/hierarchies/{page}", attribute="job").status_code == 404
    assert browser.send(f"{PLACE}/count", attribute="job", upload=other).status_code == 404
    assert browser.send(f"{PLACE}/count", attribute="job").status_code == 404


@pytest.mark.slow
def test_rare_values_are_put_together_and_what_is_in_a_group_can_be_seen_above(clinic: Server):
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "job")
    page = _group(browser, "rare", upload, level="0", least="2", name="other")
    assert "1 inside · 1 rows" in page
    page = _group(browser, "rare", upload, level="0", least="3", name="other")
    assert "4 inside · 7 rows" in page
    page = _group(browser, "raise", upload)
    assert re.search(r"Values inside.*clerk, doctor, nurse, driver", page)
    wrong = {"attribute": "job", "upload": upload, "deed": "rare", "least": "many", "name": "x"}
    assert browser.send(f"{PLACE}/groups/change", **wrong).status_code == 400


@pytest.mark.slow
def test_a_search_shows_what_has_the_words(clinic: Server):
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "job")
    page = browser.get(f"{PLACE}/groups", attribute="job", upload=upload, search="DR").text
    assert re.findall(r'data-member="(.+?)"', page) == ["driver"]


@pytest.mark.parametrize(
    ("fields", "hierarchy"),
    [
        ({"by": "prefix", "keep": "4, 2,0", "mask": "*"}, "{prefix: [4, 2, 0]}"),
        ({"by": "prefix", "keep": "4", "mask": "#"}, '{prefix: [4], mask: "#"}'),
        ({"by": "date", "unit": ["decade", "year"], "format": "%Y"}, '{date: [year, decade], format: "%Y"}'),
        (
            {"by": "order", "order": "nurse\r\ndoctor\r\nclerk\r\n", "then": "2"},
            "{order: [nurse, doctor, clerk], then: [2]}",
        ),
    ],
)
def test_a_rule_becomes_a_change_of_the_policy(clinic: Server, fields, hierarchy):
    answer = clinic.browser(PageRole.STEWARD).send(f"{PLACE}/rules", attribute="job", **fields)
    text, _ = _proposal(answer)
    (clinic.folder / "policies" / "clinic.yaml").write_text(text)
    expected = POLICY.replace(
        "job: {role: quasi_identifier}", f"job: {{role: quasi_identifier, hierarchy: {hierarchy}}}"
    )
    assert text.replace("'", '"') == expected
    assert api.check([clinic.folder / "policies" / "clinic.yaml"]).passes()
    page = clinic.browser(PageRole.STEWARD).get(f"{PLACE}/rules", attribute="job").text
    assert re.search(f'<option value="{fields["by"]}" selected>', page)


@pytest.mark.parametrize(
    "fields",
    [
        {"by": "prefix", "keep": "2,4"},
        {"by": "prefix", "keep": ""},
        {"by": "prefix", "keep": "2", "mask": "**"},
        {"by": "date"},
        {"by": "order", "order": "a\na", "then": "2"},
        {"by": "order", "order": "a\nb", "then": ""},
        {"by": "wishing"},
    ],
)
def test_a_rule_that_is_none_is_not_proposed(clinic: Server, fields):
    assert clinic.browser(PageRole.STEWARD).send(f"{PLACE}/rules", attribute="job", **fields).status_code == 400


def test_a_rule_that_no_address_could_hold_is_refused_before_the_browser_is_sent_there(clinic: Server):
    browser, order = clinic.browser(PageRole.STEWARD), "\n".join(f"v{number:06}" for number in range(5_000))
    answer = browser.send(f"{PLACE}/rules", attribute="job", by="order", order=order, then="2")
    assert (answer.status_code, "too long to be shown as a change" in answer.text) == (413, True)
    assert browser.send(f"{PLACE}/rules", attribute="job", by="order", order=order[:799], then="2").status_code == 303


@pytest.mark.slow
def test_what_a_rule_makes_of_the_values_is_shown_and_what_it_does_not_fit_is_told_without_them(
    clinic: Server, monkeypatch
):
    browser = clinic.browser(PageRole.STEWARD)
    upload, bounded, run = _counted(clinic, browser, "job"), [], BoundedCalls.run
    monkeypatch.setattr(BoundedCalls, "run", lambda self, *call: bounded.append(call[0].__name__) or run(self, *call))
    shown = browser.send(f"{PLACE}/rules/labels", attribute="job", upload=upload, by="prefix", keep="1", mask="*")
    cells = re.findall(r'<th scope="row">(.+?)</th><td class="number">(\d+)</td>', shown.text)
    assert cells[:3] == [("d*****", "3"), ("c*****", "2"), ("n*****", "2")]
    unfit = browser.send(f"{PLACE}/rules/labels", attribute="job", upload=upload, by="date", unit="year")
    assert "The rule does not fit" in unfit.text
    assert "driver" not in unfit.text
    assert bounded.count("tried") == 2, "a format of dates is somebody's own, and held against each of 10,000 values"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("deed", "fields", "said"),
    [
        ("move", {"group": "", "name": "care"}, "Select what is to be moved."),
        ("move", {"member": "nurse", "group": "", "name": "  "}, "visible characters"),
        ("move", {"member": "nurse", "group": "", "name": "doctor"}, None),
        ("lower", {}, "There is one level alone."),
        ("dance", {}, "Nothing was asked for."),
    ],
)
def test_a_change_that_makes_no_hierarchy_says_why_and_changes_nothing(clinic: Server, deed, fields, said):
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "job")
    before = browser.get(f"{PLACE}/groups", attribute="job", upload=upload).text
    answer = browser.send(f"{PLACE}/groups/change", attribute="job", upload=upload, deed=deed, level="0", **fields)
    if said is None:
        assert answer.status_code == 303
        return
    assert answer.status_code == 400
    assert said in answer.text
    after = browser.get(f"{PLACE}/groups", attribute="job", upload=upload).text
    assert re.findall(r"data-(?:member|group)=.+?>", before) == re.findall(r"data-(?:member|group)=.+?>", after)


@pytest.mark.slow
def test_the_journal_has_no_values(clinic: Server):
    browser = clinic.browser(PageRole.STEWARD)
    upload = _counted(clinic, browser, "job")
    _group(browser, "move", upload, level="0", member=["nurse", "doctor"], group="", name="care")
    for entry in clinic.site.journal.newest(50):
        assert not {"nurse", "doctor", "care"} & {entry.subject, entry.action}


HOSTILE = (
    '"><script>alert(1)</script>',
    "' onload=alert(1) x='",
    "{{7*7}}",
    "=cmd|' /C calc'!A0",
    'a;b"c',
    "\u202egpj",
)


@pytest.mark.slow
def test_hostile_names_and_values_stay_texts(clinic: Server):
    column = '"><img src=x onerror=alert(1)>'
    quoted = json.dumps(column)
    (clinic.folder / "policies" / "clinic.yaml").write_text(POLICY.replace("  job: {", f"  {quoted}: {{"))
    browser = clinic.browser(PageRole.STEWARD)
    rows = "".join(f'1,"{value.replace(chr(34), chr(34) * 2)}",flu\n' for value in HOSTILE)
    head = 'age,"' + column.replace('"', '""') + '",illness\n'
    upload = clinic.upload(PageRole.STEWARD, "x.csv", (head + rows).encode()).id
    asked = {"attribute": column, "upload": upload}
    assert browser.send(f"{PLACE}/count", **asked).status_code == 303
    (job,) = clinic.site.jobs.of(clinic.users[PageRole.STEWARD])
    assert clinic.site.jobs.finished(job, PATIENCE).exit_code == 0
    name = "<b>x</b>{{7*7}}"
    moved = browser.send(
        f"{PLACE}/groups/change", **asked, deed="move", level="0", member=[HOSTILE[0], HOSTILE[3]], group="", name=name
    )
    assert moved.status_code == 303
    for page in ("", "/groups", "/intervals", "/rules"):
        text = browser.get(f"{PLACE}{page}", **asked).text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "<b>x" not in text
        assert ">49<" not in text
    saved = browser.send(f"{PLACE}/groups", **asked, digest="")
    assert saved.status_code == 303
    (file,) = (clinic.folder / "policies" / "hierarchies").iterdir()
    assert re.fullmatch(r"clinic\.[A-Za-z0-9_-]+\.csv", file.name)


@pytest.mark.slow
def test_long_values_are_shown_shortened_and_sent_whole(clinic: Server):
    browser, user = clinic.browser(PageRole.STEWARD), clinic.users[PageRole.STEWARD]
    upload = clinic.upload(PageRole.STEWARD, "clinic.csv", DATA.encode())
    place = clinic.site.hierarchies.workplace(user, "clinic.yaml", ("attributes", "job"), upload)
    long = [f"{'a' * 5_000}{n:02}" for n in range(70)]
    place.counts.write_text("".join(f"{value};2\n" for value in ("nurse", *long)))
    page = browser.get(f"{PLACE}/groups", attribute="job", upload=upload.id).text
    assert page.count('<input type="checkbox" name="member"') == 71
    assert {page.count(value) for value in long} == {1}
    assert "<span>nurse</span>" in page
    assert f"{'a' * 47}05</span>" in page
    page = _group(browser, "move", upload.id, member=[long[5], "nurse"], group="", name="some")
    assert "2 inside" in page
    grouping = place.read()
    assert grouping is not None
    assert grouping.groups(0)["some"] == ["nurse", long[5]]
    place.counts.write_text("".join(f"{value * 10};2\n" for value in long))
    page = browser.get(f"{PLACE}/rules", attribute="job", upload=upload.id).text
    assert len(page) < 50_000


def test_the_list_of_attributes_is_as_long_as_an_upload_may_be_wide(clinic: Server, monkeypatch):
    browser = clinic.browser(PageRole.STEWARD)
    assert "not listed" not in browser.get(PLACE).text
    monkeypatch.setattr("ppdm_flow.page.views.hierarchies.routes._MOST", 1)
    page = browser.get(PLACE).text
    assert "2 more attributes are not listed" in page
    assert "attribute=age" in page
    assert "attribute=job" not in page
