"""The pages of policies, as a steward uses them."""

from __future__ import annotations

import html
import re
import subprocess

import pytest

from ppdm_flow.page.services.accounts.roles import PageRole

ADDRESS = "/policies/study/people.yaml"
NAME = "study/people.yaml"


@pytest.fixture
def policies(filled):
    return filled.site.policies


def test_the_list_says_what_each_file_is_and_how_it_stands(steward, policies):
    broken = policies.read(NAME)
    page = steward.get("/policies").text
    assert re.search(r"study/org.yaml</a></th><td[^>]*>template</td>\s*<td[^>]*>\s*<span class=\"badge good\">", page)
    (policies.folder / NAME).write_text(broken.text.replace("k: 7", "k: 2"))
    assert "Errors: 1" in steward.get("/policies").text
    (policies.folder / NAME).write_text(broken.text)
    assert "Errors: 1" not in steward.get("/policies").text


def test_a_policy_shows_its_steps_and_what_is_wrong(steward, policies):
    page = steward.get(ADDRESS).text
    assert 'class="picture graph"' in page
    assert "recode leads to public." in page
    (policies.folder / "study" / "org.yaml").write_text("version: 1\nprivacy: {k_anonymity: {kk: 5}}\n")
    page = html.unescape(steward.get(ADDRESS).text)
    assert "unknown key <code>kk</code>" in page
    assert 'href="/policies/study/org.yaml/edit#line-2"' in page
    assert str(policies.folder) not in page


def test_saving_writes_the_text_and_goes_back_to_the_editor(steward, policies):
    before = policies.read(NAME)
    text = before.text.replace("k: 7", "k: 9")
    answer = steward.send(f"{ADDRESS}/edit", text=text.replace("\n", "\r\n"), digest=before.digest)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{ADDRESS}/edit?said=policies.saved")
    assert (policies.folder / NAME).read_bytes() == text.encode()
    assert "The file was saved." in steward.get(answer.headers["location"]).text


def test_of_two_editors_the_second_is_told_and_sees_both_texts(steward, filled, policies):
    other = filled.browser(PageRole.STEWARD)
    first = policies.read(NAME)
    assert other.send(f"{ADDRESS}/edit", text=first.text + "# theirs\n", digest=first.digest).status_code == 303
    answer = steward.send(f"{ADDRESS}/edit", text=first.text + "# mine\n", digest=first.digest)
    assert answer.status_code == 409
    assert "# theirs" in answer.text
    assert "# mine" in answer.text
    assert policies.read(NAME).text.endswith("# theirs\n")
    digest = re.search(r'name="digest" value="(\w+)"', answer.text)[1]
    assert steward.send(f"{ADDRESS}/edit", text=first.text + "# both\n", digest=digest).status_code == 303
    assert policies.read(NAME).text.endswith("# both\n")


def test_what_somebody_types_is_checked_beside_its_templates_and_nothing_is_kept(steward, filled, policies):
    before, entries = policies.read(NAME), filled.site.journal.newest(1)
    answer = steward.send(f"{ADDRESS}/check", text=before.text.replace("k: 7", "k: 2"))
    item = re.search(r'<li class="error"[^>]*data-line="(\d+)" data-column="(\d+)"', answer.text)
    assert item.groups() == ("10", "20")
    assert "PPF" in answer.text
    names = html.unescape(re.search(r'data-names="([^"]*)"', answer.text)[1])
    assert '"attributes": ["id", "age", "town"]' in names
    assert policies.read(NAME) == before
    assert filled.site.journal.newest(1) == entries


@pytest.mark.parametrize("text", ["", "\t", "a: [", "- 1", "\x00", "a: &a [*a]", "[" * 5000, "é: \ud7ff", "*x: 1"])
def test_any_text_can_be_checked(steward, text):
    assert steward.send(f"{ADDRESS}/check", text=text).status_code == 200


@pytest.mark.slow
def test_a_proposed_text_is_shown_with_what_it_weakens_and_applied(steward, policies):
    before = policies.read(NAME)
    weaker = before.text.replace("k: 7", "k: 4")
    page = steward.send(f"{ADDRESS}/propose", text=weaker, digest=before.digest, back="/runs/x")
    assert page.status_code == 200
    assert "It becomes weaker" in page.text
    assert "privacy.k_anonymity" in page.text
    assert policies.read(NAME) == before
    fields = dict(re.findall(r'name="(digest|back)" value="([^"]*)"', page.text))
    answer = steward.send(f"{ADDRESS}/edit", text=weaker, **fields)
    assert answer.headers["location"] == f"{ADDRESS}?said=policies.saved", "where the policy is run again"
    stricter = steward.send(f"{ADDRESS}/propose", text=before.text, digest=fields["digest"])
    assert "It becomes stricter" in stricter.text
    assert "The file has changed since this was proposed" in stricter.text


@pytest.mark.slow
def test_a_change_of_a_template_says_what_it_means_for_each_policy_that_uses_it(steward, policies):
    template = policies.read("study/org.yaml")
    lower = template.text.replace('">= 3"', '">= 2"')
    page = html.unescape(steward.send("/policies/study/org.yaml/propose", text=lower, digest=template.digest).text)
    assert f'<h3><a href="{ADDRESS}">{NAME}</a></h3>' in page
    assert re.search(r"floors\.[^<]*</code></th>\s*<td[^>]*><span class=.badge bad.>weaker", page)
    higher = template.text.replace('">= 3"', '">= 9"')
    page = html.unescape(steward.send("/policies/study/org.yaml/propose", text=higher, digest=template.digest).text)
    assert "cannot be compared" in page
    same = template.text.replace("k: 5", "k: 6")
    assert "What must hold is the same" in steward.send("/policies/study/org.yaml/propose", text=same).text
    assert policies.read("study/org.yaml") == template
    alone = steward.send("/policies/new", name="alone", start="frame")
    assert alone.status_code == 303


def test_a_proposal_with_errors_says_them(steward, policies):
    page = steward.send(f"{ADDRESS}/propose", text=policies.read(NAME).text.replace("k: 7", "k: 2"))
    assert "The proposed text has errors" in page.text
    assert "cannot be compared" in page.text


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\nx"]
)
def test_a_way_back_leads_nowhere_else(steward, policies, back):
    before = policies.read(NAME)
    answer = steward.send(f"{ADDRESS}/edit", text=before.text, digest=before.digest, back=back)
    assert answer.headers["location"] == f"{ADDRESS}/edit?said=policies.saved"


@pytest.mark.slow
def test_a_resolved_policy_says_where_its_values_come_from(steward, policies):
    page = html.unescape(steward.get(f"{ADDRESS}/resolved").text)
    assert 'owner: "somebody@example.org"' in page
    assert "study/org.yaml:2" in page
    assert str(policies.folder) not in page
    (policies.folder / NAME).write_text("version: 1\nname: x\nreleases: {}\n")
    assert steward.get(f"{ADDRESS}/resolved").status_code == 422


def test_of_many_faults_a_resolved_policy_shows_some(steward, policies, monkeypatch):
    attributes = "".join(f"  wrong{number}: {{rule: target}}\n" for number in range(9))
    (policies.folder / "many.yaml").write_text(f"version: 1\nname: many\nattributes:\n{attributes}releases: {{}}\n")
    whole = html.unescape(steward.get("/policies/many.yaml/resolved").text).count('<li class="error"')
    assert whole >= 9
    monkeypatch.setattr("ppdm_flow.page.views.policies.routes.MOST_FINDINGS", 2)
    page = html.unescape(steward.get("/policies/many.yaml/resolved").text)
    assert page.count('<li class="error"') == 2
    assert f"There are {whole - 2} more" in page


def test_files_are_made_renamed_removed_and_had_back(steward, policies):
    answer = steward.send("/policies/new", name="new/one", start="builtin:microdata-k")
    assert answer.headers["location"].startswith("/policies/new/one.yaml/edit")
    made = policies.read("new/one.yaml")
    assert "builtin:microdata-k" in made.text
    assert "fine" not in steward.get("/policies/new/one.yaml").text
    assert steward.send("/policies/new", name="new/one.yaml", start="frame").status_code == 422
    assert steward.send("/policies/new", name="../x", start="frame").status_code == 422
    assert steward.send("/policies/new", name="x", start="copy:../../etc/passwd").status_code == 422
    copied = steward.send("/policies/new", name="copy", start="copy:new/one.yaml")
    assert policies.read("copy.yaml").text == made.text.replace("name: one", "name: copy")
    assert copied.status_code == 303
    stale = steward.send("/policies/new/one.yaml/remove", digest="0" * 64)
    assert stale.status_code == 409
    assert steward.send("/policies/new/one.yaml/rename", digest=made.digest, name="two.yaml").status_code == 303
    assert steward.send("/policies/two.yaml/remove", digest=made.digest).status_code == 303
    page = steward.get("/policies/removed").text
    number = re.findall(r'action="/policies/removed/(\d+)"', page)[0]
    assert steward.send(f"/policies/removed/{number}").status_code == 303
    assert policies.read("two.yaml").digest == made.digest
    for number in ("999999", "1", "x", "-1"):
        assert steward.send(f"/policies/removed/{number}").status_code == 404


def test_an_earlier_version_is_compared_and_put_back(steward, policies, filled):
    before = policies.read(NAME)
    policies.write(NAME, before.text.replace("k: 7", "k: 5"), before.digest, filled.users[PageRole.STEWARD])
    page = steward.get(f"{ADDRESS}/history").text
    address = html.unescape(re.search(r'href="(/policies/study/people.yaml/changes\?version=\d+)"', page)[1])
    assert "It becomes weaker" in steward.get(address).text
    for version in ("0", "9999999", "x", "1e3", "9" * 30):
        assert steward.get(f"{ADDRESS}/changes", version=version).status_code == 404


def test_an_earlier_version_is_offered_as_an_edit(steward, policies, filled):
    before = policies.read(NAME)
    policies.write(NAME, before.text.replace("k: 7", "k: 5"), before.digest, filled.users[PageRole.STEWARD])
    page = steward.get(f"{ADDRESS}/history").text
    address = html.unescape(re.search(r'href="(/policies/study/people.yaml/propose\?version=\d+)"', page)[1])
    proposal = steward.get(address).text
    assert html.escape(before.text) in proposal
    assert f'value="{policies.read(NAME).digest}"' in proposal
    assert steward.get(f"{ADDRESS}/propose", version="9999999").status_code == 404


def test_a_history_of_long_texts_is_a_short_page(steward, policies, filled):
    history = policies.history
    for number in range(18):
        history.keep(NAME, "wrote", str(number), f"# {number}\n" + "x" * 990_000, filled.users[PageRole.STEWARD])
    page = steward.get(f"{ADDRESS}/history")
    assert page.status_code == 200
    assert len(page.text) < 100_000


def test_what_others_write_and_remove_takes_nothing_off_the_lists(steward, policies, filled):
    ann, bob = filled.users[PageRole.STEWARD], filled.users[PageRole.ADMINISTRATOR]
    made = policies.create("work.yaml", "version: 1\nname: work\n", ann)
    policies.remove("work.yaml", made.digest, bob)
    (removed,) = policies.history.removed()
    first = policies.read(NAME)
    policies.history.keep(NAME, "wrote", first.digest, first.text, ann)
    for number in range(205):
        policies.history.keep(f"z{number}.yaml", "removed", "z", "", bob)
        policies.history.keep(NAME, "wrote", str(number), "", bob)
    assert "206 removed" in steward.get("/policies").text
    for address, wanted in (("/policies/removed", "work.yaml"), (f"{ADDRESS}/history", ann.name)):
        pages = [steward.get(address).text]
        while older := re.search(r'rel="next" href="([^"]+)"', pages[-1]):
            pages.append(steward.get(html.unescape(older[1])).text)
        rows = [len(re.findall(r'<th scope="row">', page)) for page in pages]
        assert rows[0] == 200
        assert len(pages) == 2
        assert re.search(f"<(th scope=.row.|td[^>]*)>{re.escape(wanted)}</t[hd]>", pages[1])
    assert steward.send(f"/policies/removed/{removed.number}").status_code == 303
    assert policies.read("work.yaml").digest == made.digest


@pytest.mark.slow
def test_changes_since_the_last_commit_are_judged_and_committed(steward, policies, filled):
    folder = policies.folder

    def git(*words):
        fixed = ["-c", "user.name=Someone", "-c", "user.email=some@one.example", "-c", "init.defaultBranch=main"]
        return subprocess.run(["git", *fixed, *words], cwd=folder, check=True, capture_output=True, text=True).stdout

    assert "in no Git working tree" in steward.get(f"{ADDRESS}/changes").text
    assert steward.get("/policies/commit").status_code == 404
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    assert "Both texts are the same" in steward.get(f"{ADDRESS}/changes").text
    template = policies.read("study/org.yaml")
    policies.write(
        "study/org.yaml", template.text.replace("k: 5", "k: 4"), template.digest, filled.users[PageRole.STEWARD]
    )
    before = policies.read(NAME)
    steward.send(f"{ADDRESS}/edit", text=before.text.replace("k: 7", "k: 6"), digest=before.digest)
    page = steward.get(f"{ADDRESS}/changes").text
    assert "It becomes weaker" in page
    assert 'href="/policies/commit"' in page

    def box():
        return re.search(f'name="file" value="([^"]* {NAME})"', steward.get("/policies/commit").text)[1]

    seen = box()
    assert steward.send("/policies/commit", file=seen, message=" ").status_code == 422
    assert steward.send("/policies/commit", message="nothing chosen").status_code == 409
    file = folder / NAME
    file.write_text(file.read_text().replace("k: 6", "k: 5"))
    for old in (seen, f"x {NAME}"):
        answer = steward.send("/policies/commit", file=old, message="less")
        assert (answer.status_code, "was written since" in answer.text) == (409, True)
    assert steward.send("/policies/commit", file=box(), message="less").status_code == 303
    assert git("log", "-1", "--format=%an %s").strip() == "steward less"
    assert git("status", "--porcelain").split() == ["M", "study/org.yaml"]
    assert "less" in steward.get(f"{ADDRESS}/history").text


def test_approvers_read_and_do_not_write(filled):
    approver = filled.browser(PageRole.APPROVER)
    page = approver.get(ADDRESS)
    assert page.status_code == 200
    assert "<textarea" not in page.text
    assert "/remove" not in page.text
    assert approver.get(f"{ADDRESS}/edit").status_code == 403


@pytest.mark.slow(quick=8)
@pytest.mark.parametrize("page", ["", "/edit", "/resolved", "/changes", "/history", "/propose"])
@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "study", "nothing.yaml", "%2e%2e/x.yaml", "a%00.yaml", "/etc/passwd"]
)
def test_what_is_not_listed_is_not_there(steward, name, page):
    assert steward.get(f"/policies/{name}{page}").status_code == 404


def test_words_of_the_editor_know_keys_plugins_and_templates(steward):
    words = steward.get("/policies/words").json()
    assert "k_anonymity" in words["definitions"]["Privacy"]["properties"]
    assert words["plugins"]["anonymizers"]["mondrian"]["about"]
    assert "builtin:microdata-k" in words["templates"]
    assert not [name for name in words["definitions"] if name.endswith(".child")]
