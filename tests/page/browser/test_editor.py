"""The editor of policies in a real browser: by keyboard, with findings, completion and explanations."""

from __future__ import annotations

import pytest
from served import PASSWORD, Person, opened, served_here

from ppdm_flow.page.services.accounts.roles import PageRole

POLICY = """version: 1
name: people
source: {path: people.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
privacy:
  k_anonymity: {k: 7}
steps:
  recode: {use: full_domain_recoding}
releases:
  public: {from: recode, path: people.csv}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    site = opened(tmp_path_factory.mktemp("editor"))
    site.accounts.add("ann", [PageRole.STEWARD], PASSWORD)
    with served_here(site) as server:
        yield server


@pytest.fixture
def steward(chromium, server):
    (server.policies / "people.yaml").write_text(POLICY)
    person = Person(chromium, server)
    person.sign_in("ann")
    person.page.goto("/policies/people.yaml/edit")
    person.page.locator(".cm-content").wait_for()
    yield person
    person.context.close()


def test_a_fault_is_marked_told_and_explained_while_somebody_types(steward, server):
    page = steward.page
    steward.check()
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("nulls: some")
    page.get_by_text("must be one of").wait_for()
    page.locator(".cm-lintRange-error").wait_for()
    steward.check()
    steward.picture("editor-fault")
    page.get_by_role("link", name="PPF205").click()
    page.locator("[data-explained] h2").wait_for()
    assert page.url.endswith("/edit")
    page.locator(".cm-content").focus()
    for _ in "some":
        page.keyboard.press("Backspace")
    page.keyboard.press("Control+Space")
    page.locator(".cm-tooltip-autocomplete li").first.wait_for()
    assert page.locator(".cm-tooltip-autocomplete li").all_inner_texts() == ["exclude", "own_category", "wildcard"]
    page.wait_for_timeout(200)  # CodeMirror takes no choice in the moment when it offers some
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is wrong with it.").wait_for()
    page.keyboard.press("Control+s")
    page.get_by_text("The file was saved.").wait_for()
    assert (server.policies / "people.yaml").read_text() == f"{POLICY}nulls: own_category\n"
    steward.check()


def test_the_keyboard_leads_into_the_editor_and_out_again(steward):
    page = steward.page
    page.locator(".cm-content").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.code')") is None
    page.locator(".cm-content").focus()
    page.keyboard.press("F1")
    page.locator("[data-explained] h2").wait_for()
    steward.check()


def test_other_scripts_set_and_hear_the_text(steward, server):
    page = steward.page
    page.evaluate(
        "(text) => document.querySelector('#policy-text').dispatchEvent(new CustomEvent('policy:set', {detail: text}))",
        POLICY.replace("k: 7", "k: 9"),
    )
    assert "k: 9" in page.locator(".cm-content").inner_text()
    assert page.locator("#policy-text").input_value() == POLICY.replace("k: 7", "k: 9")
    page.get_by_role("button", name="Show what this changes").click()
    page.get_by_text("It becomes stricter").wait_for()
    steward.check()
    steward.picture("proposal")
    page.get_by_role("button", name="Apply this change").click()
    page.get_by_text("The file was saved.").wait_for()
    assert "k: 9" in (server.policies / "people.yaml").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_policies_are_legible(steward, scheme):
    steward.page.emulate_media(color_scheme=scheme)
    steward.page.set_viewport_size({"width": 320, "height": 800})
    one = "/policies/people.yaml"
    pages = ("", "/edit", "/resolved", "/history", "/changes")
    for address in ("/policies", "/policies/new", "/explain", "/explain/k_anonymity", *(one + page for page in pages)):
        steward.page.goto(address)
        steward.check()
        assert steward.page.evaluate("document.documentElement.scrollWidth") <= 320, address
        steward.picture(f"narrow-{scheme}{address.replace('/', '-')}")


@pytest.mark.usefixtures("steward")
def test_the_text_field_works_without_scripts(chromium, server):
    person = Person(chromium, server, java_script_enabled=False)
    person.sign_in("ann")
    person.page.goto("/policies/people.yaml/edit")
    person.page.locator("#policy-text").fill(POLICY + "# by hand\n")
    person.page.get_by_role("button", name="Save").click()
    assert person.page.get_by_text("The file was saved.").is_visible()
    assert (server.policies / "people.yaml").read_text() == POLICY + "# by hand\n"
    person.context.close()
