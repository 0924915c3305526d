"""The form of a policy beside its YAML, in a browser: each follows the other."""

from __future__ import annotations

import random
import re

from served import PASSWORD, Person, opened, served_here

from ppdm_flow.page.services.accounts.roles import PageRole

POLICY = """\
version: 1
name: ward
source: {path: people.csv}
attributes:
  # everybody knows it
  age: {role: quasi_identifier, type: integer}  # in years
  disease: {role: sensitive}
privacy:
  k_anonymity: {k: 5}
steps:
  groups: {use: mondrian}
releases:
  public: {path: ward.csv}
"""


def test_form_and_yaml_follow_each_other(chromium, tmp_path):
    from playwright.sync_api import expect

    site = opened(tmp_path)
    (tmp_path / "policies" / "ward.yaml").write_text(POLICY)
    site.accounts.add("steward", [PageRole.STEWARD], PASSWORD)
    with served_here(site) as server:
        person = Person(chromium, server)
        person.sign_in("steward")
        page = person.page
        page.goto("/policies/ward.yaml/form")
        page.locator(".cm-content").wait_for()
        person.check()
        person.picture("form-wide")

        page.get_by_label("k", exact=True).fill("12")
        page.get_by_label("k", exact=True).press("Tab")
        text = page.locator("textarea[name=text]")
        expect(text).to_have_value(POLICY.replace("k: 5", "k: 12"))
        assert "k: 12" in page.locator(".cm-content").inner_text()

        page.get_by_label("Role of age").select_option("target")
        expect(text).to_have_value(re.compile(r"\{role: target, type"))

        page.locator(".cm-line", has_text="name: ward").click()
        page.keyboard.press("End")
        page.keyboard.type("\ndescription: by hand")
        expect(page.get_by_label("description", exact=True).first).to_have_value("by hand")

        page.get_by_label("Another step").select_option("suppress")
        page.get_by_role("button", name="Add the step").click()
        page.get_by_role("group", name="suppress").wait_for()
        person.check()

        page.set_viewport_size({"width": 320, "height": 900})
        person.check()
        person.picture("form-narrow")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320

        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("The file was saved.").wait_for()
        saved = (tmp_path / "policies" / "ward.yaml").read_text()
        wanted = POLICY.replace("k: 5", "k: 12").replace("{role: quasi_identifier, type", "{role: target, type")
        wanted = wanted.replace("name: ward\n", "name: ward\ndescription: by hand\n")
        assert saved == wanted.replace("mondrian}\n", "mondrian}\n  suppress: {use: suppress}\n")
        person.context.close()


def test_a_table_becomes_a_policy(chromium, tmp_path):
    site = opened(tmp_path)
    steward = site.accounts.add("steward", [PageRole.STEWARD], PASSWORD)
    draw = random.Random(5)
    rows = [
        f"{i},{draw.randrange(20, 90)},{draw.randrange(1000, 1060)},{draw.choice(['flu', 'cold'])}" for i in range(500)
    ]
    data = "\n".join(["patient_id,age,zip,disease", *rows, ""]).encode()
    with site.uploads.arriving(steward, len(data)) as arrived:
        arrived.write(data)
        site.uploads.keep(steward, arrived, "patients.csv")
    with served_here(site) as server:
        person = Person(chromium, server)
        person.sign_in("steward")
        page = person.page
        page.goto("/uploads")
        page.get_by_role("link", name="Make a policy from patients.csv").click()
        person.check()
        page.get_by_role("button", name="This is right, go on").click()
        page.wait_for_url("**/form/draft/*")
        job = page.url.rpartition("/")[2]
        page.get_by_label("Role of age").wait_for()
        person.check()
        person.picture("draft-wide")
        page.get_by_label("Role of zip").select_option("quasi_identifier")
        page.get_by_label("Name").fill("patients")
        page.get_by_role("button", name="Make the policy").click()
        page.get_by_text("The policy is made.").wait_for()
        person.check()
        page.get_by_role("link", name="Change it").click()
        page.locator(".cm-content").wait_for()
        person.check()
        person.picture("form-of-a-table")
        page.set_viewport_size({"width": 320, "height": 900})
        page.goto(f"/form/draft/{job}")
        person.check()
        person.picture("draft-narrow")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        person.context.close()
    assert "zip: {role: quasi_identifier" in (tmp_path / "policies" / "patients.yaml").read_text()
