"""From a file to a policy: the profile as a form, and the form beside the YAML."""

from __future__ import annotations

import html
import json
import random
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape
from sites import PATIENCE
from starlette.datastructures import FormData

from ppdm_flow.api.profile.profile import profile
from ppdm_flow.core.texts import visible
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.views.form import routes
from ppdm_flow.page.views.form.routes import added, contents_of
from ppdm_flow.policy.edit.changes import tree_of
from ppdm_flow.policy.edit.edited import edited

POLICY = """\
# Nobody may change this line.
version: 1
name: 'ward'   # single quotes stay
source: {path: people.csv}
attributes:
  # everybody knows it
  age: {role: quasi_identifier, type: integer}
  zip:   {role: quasi_identifier}  # three spaces stay
  disease: {role: sensitive}
privacy:
  k_anonymity: {k: 5}
  l_diversity:
    disease: {l: 2}
steps:
  coarser: {use: round_values, with: {attributes: [age], base: 5}}
  groups: {use: mondrian}
releases:
  public: {path: ward.csv}
"""
ADDRESS = "/policies/ward.yaml/form"


class _Form(HTMLParser):
    """The fields of the form, as a browser without scripts would send them, and its buttons."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: list[tuple[str, str]] = []
        self._select: str | None = None
        self._options: list[tuple[str, bool]] = []
        self._area: str | None = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        about = dict(attrs)
        is_sent = about.get("type") not in ("checkbox", "radio") or "checked" in about
        if tag == "input" and about.get("name") and is_sent:
            self.fields.append((about["name"], about.get("value") or ""))
        elif tag == "select":
            self._select, self._options = about["name"], []
        elif tag == "option" and self._select:
            self._options.append((about.get("value", ""), "selected" in about))
        elif tag == "textarea":
            self._area = about["name"]
            self.fields.append((self._area, ""))

    def handle_data(self, data):
        if self._area:
            name, value = self.fields[-1]
            self.fields[-1] = (name, value + data)

    def handle_endtag(self, tag):
        if tag == "textarea":
            name, value = self.fields[-1]
            self.fields[-1] = (name, value.removeprefix("\n"))
            self._area = None
        elif tag == "select" and self._select:
            chosen = next((value for value, selected in self._options if selected), None)
            self.fields.append((self._select, chosen if chosen is not None else self._options[0][0]))
            self._select = None


def _name(kind: str, *path: str) -> str:
    return f"{kind}:{json.dumps(list(path))}"


def _body(page: str) -> dict[str, str | list[str]]:
    fields = _Form(page).fields
    many = Counter(name for name, _ in fields)
    return {name: value if many[name] == 1 else [v for n, v in fields if n == name] for name, value in fields}


@pytest.fixture
def steward(server):
    (server.site.policies.folder / "ward.yaml").write_text(POLICY)
    return server.browser(PageRole.STEWARD)


def _text(server) -> str:
    return server.site.policies.read("ward.yaml").text


def _save(steward, changes, removed=()):
    body = _body(steward.get(ADDRESS).text) | changes
    return steward.client.post(f"{ADDRESS}/save", data={**body, "remove": list(removed)})


@pytest.mark.slow
def test_a_form_that_nobody_touched_saves_the_same_bytes(steward, server):
    assert _save(steward, {}).status_code == 303
    assert _text(server) == POLICY


def test_each_entry_is_shown_with_what_it_means(steward):
    sent = steward.get(ADDRESS).text
    page = html.unescape(sent)
    assert "everybody knows it" in page
    assert "Every combination of quasi-identifier values that occurs belongs to at least" in page
    assert "The least number of rows in a group." in page
    assert "Cuts the table into small classes" in page
    assert "an attribute that nobody should be able to conclude about a person" in page
    assert 'class="picture graph"' in page
    names = {name for name, _ in _Form(sent).fields}
    assert {
        _name("words", "steps", "coarser", "with", "attributes"),
        _name("choice", "steps", "groups", "use"),
    } <= names


@pytest.mark.slow
def test_what_the_form_changes_is_all_that_changes(steward, server):
    answer = _save(
        steward,
        {
            _name("text", "privacy", "k_anonymity", "k"): "10",
            _name("choice", "attributes", "zip", "role"): "identifier",
            _name("words", "privacy", "k_anonymity", "attributes"): "age, zip",
            _name("yaml", "attributes", "age", "hierarchy"): "{intervals: [0, 50, 100]}",
        },
        removed=[json.dumps(["steps", "coarser"])],
    )
    assert answer.status_code == 303
    assert _text(server) == (
        POLICY.replace("{k: 5}", "{k: 10, attributes: [age, zip]}")
        .replace("zip:   {role: quasi_identifier}", "zip:   {role: identifier}")
        .replace("type: integer}", "type: integer, hierarchy: {intervals: [0, 50, 100]}}")
        .replace("  coarser: {use: round_values, with: {attributes: [age], base: 5}}\n", "")
    )


@pytest.mark.slow
def test_entries_are_added(steward, server):
    new = {
        "attribute:0:name": "town",
        "attribute:0:role": "quasi_identifier",
        "requirement:kind": "t_closeness",
        "requirement:name": "disease",
        "step:use": "suppress",
        "step:after": json.dumps(["steps", "coarser"]),
        "release:name": "partners",
    }
    assert _save(steward, new).status_code == 303
    text = _text(server)
    assert "  disease: {role: sensitive}\n  town: {role: quasi_identifier}\n" in text
    assert "  t_closeness: {disease: {t: 0.2}}\n" in text
    assert re.search(r"coarser: .*\n  suppress: \{use: suppress\}\n  groups:", text)
    assert text.endswith("  public: {path: ward.csv}\n  partners: {path: partners.csv}\n")


@pytest.mark.parametrize(
    ("kind", "name", "written"),
    [("k_anonymity", "", "k_anonymity: {k: "), ("t_closeness", "disease", "t_closeness: {disease: {t: 0.2}}")],
)
def test_a_requirement_takes_the_place_of_none(kind, name, written):
    text = "version: 1\nname: ward\nattributes: {disease: {role: sensitive}}\nprivacy: none\n"
    form = FormData({"requirement:kind": kind, "requirement:name": name})
    changed = edited(text, added(form, tree_of(text)))
    assert f"privacy:\n  {written}" in changed


@pytest.mark.slow
def test_a_step_moves_up_and_one_that_becomes_another_loses_its_parameters(steward, server):
    body = _body(steward.get(ADDRESS).text)
    page = steward.client.post(ADDRESS, data=body | {"up": json.dumps(["steps", "groups"])}).text
    moved = dict(_Form(page).fields)["text"]
    assert moved.index("groups:") < moved.index("coarser:")
    assert _text(server) == POLICY
    _save(steward, {_name("choice", "steps", "coarser", "use"): "mask"})
    assert "  coarser: {use: mask}\n" in _text(server)


@pytest.mark.slow
def test_neither_side_undoes_the_other(steward, server):
    """The YAML was edited by hand after the form was made: the form's own change joins it."""
    body = _body(steward.get(ADDRESS).text)
    body["text"] = POLICY.replace("k: 5", "k: 7").replace("{l: 2}", "{l: 2} # by hand")
    body[_name("text", "privacy", "l_diversity", "disease", "l")] = "3"
    page = steward.client.post(ADDRESS, data=body).text
    assert dict(_Form(page).fields)["text"] == POLICY.replace("k: 5", "k: 7").replace("{l: 2}", "{l: 3} # by hand")
    assert _text(server) == POLICY


@pytest.mark.slow
def test_the_part_for_scripts_has_the_form_and_the_text(steward):
    text = "attributes: {x: {role: target}}\n"
    body = _body(steward.get(ADDRESS).text) | {"part": "yes", "text_only": "yes", "text": text}
    part = steward.client.post(ADDRESS, data=body)
    assert part.status_code == 200
    assert "<html" not in part.text
    fields = _body(part.text)
    assert fields["base"] == text
    assert fields[_name("choice", "attributes", "x", "role")] == "target"


@pytest.mark.slow
def test_yaml_that_cannot_be_read_leaves_the_form_out_and_is_not_lost(steward, server):
    body = _body(steward.get(ADDRESS).text)
    page = steward.client.post(f"{ADDRESS}/save", data=body | {"text": "attributes: [\n"})
    assert page.status_code == 422
    assert dict(_Form(page.text).fields)["text"] == "attributes: [\n"
    assert _text(server) == POLICY


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("value", ["{", "a\nb: c", "!!python/name:os.system x", "*x", "[1, 2"])
def test_a_field_that_is_no_yaml_changes_nothing(steward, server, value):
    answer = _save(steward, {_name("yaml", "attributes", "age", "hierarchy"): value})
    assert answer.status_code == 422
    assert "attributes.age.hierarchy" in answer.text
    assert _text(server) == POLICY


@pytest.mark.parametrize(
    ("many", "is_shown"),
    [
        ({"attributes": 2_000}, True),
        ({"attributes": 8_000}, False),
        ({"attributes": 2_000, "steps": 50}, True),
        ({"steps": 2_000}, False),
        ({"releases": 2_000}, False),
    ],
)
def test_a_form_of_so_many_entries_as_an_upload_has_columns_and_no_longer_one(many, is_shown):
    entries = {"attributes": "{role: other}", "steps": "{use: mondrian}", "releases": "{path: x.csv}"}
    parts = (f"{part}:\n" + "".join(f"  a{n}: {entries[part]}\n" for n in range(count)) for part, count in many.items())
    shown = contents_of("wide.yaml", "version: 1\n" + "".join(parts))
    assert shown == "form.too_long" if not is_shown else len(shown.names) == 2_000


@pytest.mark.slow
def test_yaml_without_a_form_can_be_saved_all_the_same(steward, server):
    long = "attributes:\n" + "".join(f"  a{number}: {{role: other}}\n" for number in range(5_000))
    (server.site.policies.folder / "ward.yaml").write_text(long)
    page = steward.get(ADDRESS)
    assert page.status_code == 200
    assert "more entries than a form can show" in page.text
    fields = dict(_Form(page.text).fields)
    assert _name("text", "name") not in fields
    answer = steward.client.post(f"{ADDRESS}/save", data=fields | {"text": POLICY})
    assert answer.status_code == 303
    assert _text(server) == POLICY


@pytest.mark.slow
def test_anchors_are_refused_with_the_reason(steward, server):
    text = "version: 1\nattributes:\n  a: &x {role: target}\n  b: *x\n"
    (server.site.policies.folder / "ward.yaml").write_text(text)
    answer = _save(steward, {_name("choice", "attributes", "a", "role"): "identifier"})
    assert answer.status_code == 422
    assert "PPF127" in answer.text
    assert _text(server) == text


@pytest.mark.slow
def test_somebody_elses_change_is_not_overwritten(steward, server):
    body = _body(steward.get(ADDRESS).text) | {_name("text", "privacy", "k_anonymity", "k"): "9"}
    (server.site.policies.folder / "ward.yaml").write_text(POLICY + "# theirs\n")
    assert steward.client.post(f"{ADDRESS}/save", data=body).status_code == 409
    assert _text(server) == POLICY + "# theirs\n"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("path", ["../state/page.sqlite3", "../state/uploads/x/data.csv"])
def test_the_form_does_not_lead_into_the_servers_private_folder(steward, server, path):
    body = _body(steward.get(ADDRESS).text)
    for text in (POLICY.replace("people.csv", path), POLICY):
        more = {} if text != POLICY else {_name("yaml", "attributes", "age", "hierarchy"): f'{{csv: "{path}"}}'}
        answer = steward.client.post(f"{ADDRESS}/save", data=body | {"text": text} | more)
        assert answer.status_code == 403
        assert _text(server) == POLICY


HOSTILE = ['"><script>alert(1)</script>', "{{7*7}}", "'; x='", "\u202eabc", "a" * 300, "=1+1", "<b>", "&amp;", "[", "é"]


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_columns_are_only_text(steward, server, name):
    page = _save(steward, {"attribute:0:name": name, "attribute:0:role": "target"})
    assert page.status_code == 303
    shown = steward.get(ADDRESS).text
    assert f'<th scope="row">{escape(visible(name))}</th>' in shown
    path = json.dumps(["attributes", name, "role"], ensure_ascii=False)
    assert _body(shown)[f"choice:{path}"] == "target"
    assert _save(steward, {}, removed=[json.dumps(["attributes", name])]).status_code == 303
    assert _text(server) == POLICY


@pytest.mark.slow
def test_a_table_becomes_a_policy(server, monkeypatch):
    draw = random.Random(7)
    rows = [f"{i},{draw.randrange(20, 90)},{draw.choice(['flu', 'cold', 'measles'])}" for i in range(400)]
    data = "\n".join(["patient_id,age,disease", *rows, ""]).encode()
    upload = server.upload(PageRole.STEWARD, "pa tients.csv", data)
    steward = server.browser(PageRole.STEWARD)
    assert f'value="{upload.id}" selected' in steward.get("/form/new", upload=upload.id).text
    answer = steward.send("/form/new", upload=upload.id, header="guess")
    assert answer.status_code == 303
    job = server.site.jobs.finished(server.site.jobs.of(server.users[PageRole.STEWARD])[0], PATIENCE)
    assert (job.kind, job.exit_code, job.leads_to) == ("profile", 0, f"/form/draft/{job.id}"), job.talk
    page = steward.get(job.leads_to).text
    with monkeypatch.context() as patched:
        patched.setattr(routes, "LARGE", 0)
        patched.setattr(routes, "json", None)
        assert steward.get(job.leads_to).text == page, "a long profile is parsed by another process"
    assert "measles" not in page
    assert str(upload.path) not in page
    fields = {name: value for name, value in _Form(page).fields if name.startswith(("role-", "type-"))}
    assert fields["role-0"] == "identifier"
    assert server.browser(PageRole.APPROVER).get(job.leads_to).status_code == 403
    taken = steward.send(job.leads_to, **fields, name="../x")
    assert taken.status_code == 422
    answer = steward.send(job.leads_to, **(fields | {"role-1": "insensitive"}), name="patients")
    assert answer.headers["location"] == "/policies/patients.yaml?said=form.made"
    text = server.site.policies.read("patients.yaml").text
    assert 'path: "pa tients.csv"' in text
    assert "age: {role: insensitive, type: integer}" in text
    assert "chosen by its author; it had looked like quasi_identifier" in text
    assert "measles" not in text
    assert steward.get("/policies/patients.yaml/form").status_code == 200
    assert steward.send(job.leads_to, **fields, name="patients").status_code == 422


@pytest.mark.slow
def test_a_table_with_long_names_becomes_no_policy_that_is_larger_than_others(server):
    names = [f"c{number}{'x' * 20_000}" for number in range(60)]
    data = "\n".join([",".join(names), *(",".join(str(i + j) for j in range(60)) for i in range(3)), ""]).encode()
    upload = server.upload(PageRole.STEWARD, "wide.csv", data)
    steward = server.browser(PageRole.STEWARD)
    steward.send("/form/new", upload=upload.id, header="yes")
    job = server.site.jobs.finished(server.site.jobs.of(server.users[PageRole.STEWARD])[0], PATIENCE)
    assert steward.get(job.leads_to).status_code == 200
    answer = steward.send(job.leads_to, name="wide")
    assert (answer.status_code, "names of the columns are too long" in answer.text) == (413, True)
    assert not (server.site.settings.policies / "wide.yaml").exists()


@pytest.mark.slow
def test_the_page_makes_the_policy_that_the_command_line_makes(server, tmp_path, cli):
    draw = random.Random(3)
    rows = [f"{i},{draw.randrange(20, 90)},{draw.randrange(10000, 10050)}" for i in range(300)]
    data = "\n".join(["id,age,zip", *rows, ""])
    (tmp_path / "ward.csv").write_text(data)
    upload = server.upload(PageRole.STEWARD, "ward.csv", data.encode())
    steward = server.browser(PageRole.STEWARD)
    steward.send("/form/new", upload=upload.id, header="guess")
    job = server.site.jobs.finished(server.site.jobs.of(server.users[PageRole.STEWARD])[0], PATIENCE)
    steward.send(job.leads_to, name="ward")
    assert (server.site.policies.folder / "ward.yaml").read_text() == cli("profile", "ward.csv", cwd=tmp_path).stdout
    steward.send(job.leads_to, **(_body(steward.get(job.leads_to).text) | {"name": "ward-2"}))
    answers = {"audience": "public", "studied": "all", "person": "no", "known_rows": "all"}
    drafted = profile(tmp_path / "ward.csv").answered(answers).rendered("yaml", beside=tmp_path)
    made = (server.site.policies.folder / "ward-2.yaml").read_text()
    assert made == drafted.replace("name: ward\n", "name: ward-2\n")


@pytest.mark.slow
def test_a_table_is_read_as_its_author_says(server):
    data = 'note;name\n"C:\\x\\";Köln\n'.encode("latin-1") + b"a;b\n" * 9
    upload = server.upload(PageRole.STEWARD, "notes.csv", data)
    steward = server.browser(PageRole.STEWARD)
    written = {"delimiter": ";", "encoding": "latin-1", "escape": "none"}
    assert all(f'name="{name}"' in steward.get("/form/new", upload=upload.id).text for name in written)
    steward.send("/form/new", upload=upload.id, header="yes", **written)
    job = server.site.jobs.finished(server.site.jobs.of(server.users[PageRole.STEWARD])[0], PATIENCE)
    assert json.loads(job.output)["source"]["options"] == {"delimiter": ";", "encoding": "iso8859-1", "escape": "none"}


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("file", sorted(Path("pipelines").glob("*.yaml")), ids=lambda file: file.name)
def test_policies_of_every_kind_are_shown_and_saved_as_they_are(server, root, file):
    """Also those of several tables, of sets of items, and with keys that the form shows as YAML."""
    text = (root / file).read_bytes()
    (server.site.policies.folder / "ward.yaml").write_bytes(text)
    assert _save(server.browser(PageRole.STEWARD), {}).status_code == 303
    assert (server.site.policies.folder / "ward.yaml").read_bytes() == text


@pytest.mark.slow
def test_a_table_of_many_columns_has_a_form(server):
    columns = "".join(f"  column_{i}: {{role: insensitive}}\n" for i in range(900))
    text = POLICY.replace("  # everybody", f"{columns}  # everybody")
    (server.site.policies.folder / "ward.yaml").write_text(text)
    steward = server.browser(PageRole.STEWARD)
    path = json.dumps(["attributes", "column_7", "role"])
    assert _save(steward, {f"choice:{path}": "target"}).status_code == 303
    assert _text(server) == text.replace("column_7: {role: insensitive}", "column_7: {role: target}")


@pytest.mark.slow
def test_nobody_sees_the_profile_of_anothers_table(server):
    upload = server.upload(PageRole.STEWARD, "a.csv", b"x,y\n1,2\n3,4\n")
    steward = server.browser(PageRole.STEWARD)
    steward.send("/form/new", upload=upload.id, header="yes")
    job = server.site.jobs.finished(server.site.jobs.of(server.users[PageRole.STEWARD])[0], PATIENCE)
    other = server.site.accounts.add("other", [PageRole.STEWARD], "correct horse battery staple")
    server.users[PageRole.GUEST] = other
    stranger = server.browser(PageRole.GUEST)
    assert stranger.get(f"/form/draft/{job.id}").status_code == 404
    assert stranger.send(f"/form/draft/{job.id}", name="x").status_code == 404
    assert stranger.send("/form/new", upload=upload.id, header="yes").status_code == 422
    assert steward.send("/form/new", upload=upload.id, header="--out").status_code == 422
