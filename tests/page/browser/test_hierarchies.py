"""Hierarchies in a browser: boundaries moved and values dragged, by pointer and by keyboard alone."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from served import PASSWORD, Person, Served, opened, served_here

from ppdm_flow.page.services.accounts.roles import PageRole

POLICY = """\
version: 1
name: clinic
source: {path: clinic.csv}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 60, 120]}}
  job: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 2}
steps:
  recode: {use: full_domain_recoding, with: {suppression: 0.5}}
releases:
  out: {path: out.csv}
"""
PLACE = "/policies/clinic.yaml/hierarchies"


def _data() -> str:
    dice = random.Random(5)
    jobs = ["nurse", "doctor", "clerk", "driver", "teacher", "baker"]
    rows = (f"{min(99, max(0, int(dice.gauss(45, 18))))},{dice.choice(jobs)}\n" for _ in range(3_000))
    return "age,job\n" + "".join(rows)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory) -> Iterator[tuple[Served, str]]:
    """Start a server with a steward, their upload, and a policy; give it with the upload's id."""
    folder = tmp_path_factory.mktemp("clinic")
    site = opened(folder)
    (folder / "policies" / "clinic.yaml").write_text(POLICY)
    user = site.accounts.add("steward", [PageRole.STEWARD], PASSWORD)
    data = _data().encode()
    with site.uploads.arriving(user, len(data)) as arrived:
        arrived.write(data)
        upload = site.uploads.keep(user, arrived, "clinic.csv").id
    with served_here(site) as server:
        yield server, upload


@pytest.fixture
def steward(chromium, clinic) -> Iterator[Person]:
    person = Person(chromium, clinic[0])
    person.sign_in("steward")
    yield person
    person.context.close()


def _edges(page) -> list[str]:
    return [text for text in page.eval_on_selector_all("[name=edge]", "each => each.map(e => e.value)") if text]


def _wait_for_levels(page, first: str) -> None:
    page.locator("#levels th[scope=row]").first.filter(has_text=first).wait_for()


def _open(page, attribute: str, way: str, upload: str) -> None:
    page.goto(f"{PLACE}/{way}?attribute={attribute}&upload={upload}")
    if page.get_by_role("button", name="Count the values").count():
        page.get_by_role("button", name="Count the values").click()
        page.get_by_text("different values").wait_for()


def test_boundaries_are_moved_by_keyboard_and_counts_follow(steward: Person, clinic):
    page = steward.page
    _open(page, "age", "intervals", clinic[1])
    second = page.get_by_role("slider").nth(1)
    assert page.get_by_role("slider").count() == 4
    assert second.get_attribute("aria-valuenow") == "30"
    second.focus()
    page.keyboard.press("ArrowRight")
    assert second.get_attribute("aria-valuenow") == "32"
    _wait_for_levels(page, "[0, 32)")
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert _edges(page) == ["0", "58", "60", "120"]
    page.keyboard.press("Delete")
    _wait_for_levels(page, "[0, 60)")
    assert page.get_by_role("slider").count() == 3
    assert page.evaluate("document.activeElement.getAttribute('role')") == "slider"
    steward.check()
    steward.picture("intervals")


def test_boundaries_are_dragged_set_by_a_click_and_typed(steward: Person, clinic):
    page = steward.page
    _open(page, "age", "intervals", clinic[1])
    grip = page.get_by_role("slider").nth(1).bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + 15)
    page.mouse.down()
    page.mouse.move(grip["x"] + grip["width"] / 2 + 40, grip["y"] + 25, steps=4)
    page.mouse.up()
    moved = _edges(page)[1]
    assert 30 < float(moved) < 60
    _wait_for_levels(page, f"[0, {moved})")
    chart = page.locator("#histogram").bounding_box()
    page.mouse.click(chart["x"] + chart["width"] * 0.75, chart["y"] + chart["height"] * 0.5)
    page.get_by_role("slider").nth(4).wait_for()
    assert len(_edges(page)) == 5
    page.locator("[name=edge]").first.fill("10")
    page.keyboard.press("Tab")
    page.get_by_text("lie outside of all intervals").wait_for()
    page.locator("[name=edge]").first.fill("ten")
    page.keyboard.press("Tab")
    page.get_by_text("One of the boundaries is no number.").wait_for()
    steward.check()


def test_values_are_dragged_into_groups_and_out_of_them(steward: Person, clinic):
    page = steward.page
    _open(page, "job", "groups", clinic[1])
    page.drag_and_drop("[data-member=nurse]", ".box.new")
    assert page.evaluate("document.activeElement.id") == "move-name"
    page.keyboard.type("care")
    page.keyboard.press("Enter")
    page.locator("[data-group=care] [data-member=nurse]").wait_for()
    page.drag_and_drop("[data-member=doctor]", "[data-group=care]")
    page.locator("[data-group=care] [data-member=doctor]").wait_for()
    page.drag_and_drop("[data-member=nurse]", "[data-free]")
    page.locator("[data-free] [data-member=nurse]").wait_for()
    steward.check()
    steward.picture("groups")


def test_values_are_put_into_groups_by_keyboard_alone(steward: Person, clinic):
    page = steward.page
    _open(page, "job", "groups", clinic[1])
    for value in ("driver", "baker"):
        page.get_by_role("checkbox", name=value).focus()
        page.keyboard.press("Space")
    page.get_by_label("Name of the new group").focus()
    page.keyboard.type("trade")
    page.keyboard.press("Enter")
    page.locator("[data-group=trade] [data-member=driver]").wait_for()
    assert page.evaluate("document.activeElement.id") == "move-name"
    page.get_by_role("button", name="Add a level above").focus()
    page.keyboard.press("Enter")
    page.get_by_text("groups of the level below are put into larger ones").wait_for()
    page.get_by_role("checkbox", name="trade").focus()
    page.keyboard.press("Space")
    page.get_by_label("Move what is selected to").focus()
    page.get_by_label("Name of the new group").fill("outdoors")
    page.keyboard.press("Enter")
    page.locator("[data-group=outdoors]").wait_for()
    steward.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_pages_of_hierarchies_are_accessible_and_fit(chromium, clinic, width, scheme):
    person = Person(chromium, clinic[0], viewport={"width": width, "height": 800}, color_scheme=scheme)
    person.sign_in("steward")
    for name, way in (("age", "intervals"), ("job", "groups"), ("job", "rules")):
        _open(person.page, name, way, clinic[1])
        person.check()
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
        person.picture(f"{way}-{width}-{scheme}")
    person.page.goto(PLACE)
    person.check()
    assert person.page.evaluate("document.documentElement.scrollWidth") <= width
    person.context.close()


def test_without_scripts_forms_do_the_same(chromium, clinic):
    person = Person(chromium, clinic[0], java_script_enabled=False)
    person.sign_in("steward")
    page = person.page
    _open(page, "job", "groups", clinic[1])
    page.get_by_role("button", name="Start again from the policy").click()
    page.get_by_role("checkbox", name="clerk").check()
    page.get_by_label("Name of the new group").fill("office")
    page.get_by_role("button", name="Move", exact=True).click()
    page.locator("[data-group=office] [data-member=clerk]").wait_for()
    _open(page, "age", "intervals", clinic[1])
    page.locator("[name=edge]").last.fill("90")
    page.get_by_role("button", name="Show the levels").click()
    assert "[90, 120)" in page.locator("#levels").inner_text()
    person.context.close()


def test_intervals_and_groups_get_into_the_policy_by_a_change_that_is_shown_first(steward: Person, clinic):
    page, policies = steward.page, clinic[0].policies
    _open(page, "age", "intervals", clinic[1])
    page.locator("[name=edge]").nth(1).fill("45")
    page.get_by_role("button", name="Put into the policy").click()
    page.get_by_role("heading", name="Proposed change of clinic.yaml").wait_for()
    steward.check()
    assert (policies / "clinic.yaml").read_text() == POLICY
    page.get_by_role("button", name="Apply this change").click()
    page.wait_for_url("**/hierarchies?*")
    changed = POLICY.replace("[0, 30, 60, 120]", "[0, 45, 60, 120]")
    assert (policies / "clinic.yaml").read_text() == changed
    _open(page, "job", "groups", clinic[1])
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Start again from the policy").click()
    page.locator("[data-free] [data-member]").nth(5).wait_for()
    page.locator("#rare-name").fill("rest")
    page.get_by_label("Put together what has fewer rows than").fill("520")
    page.get_by_role("button", name="Put together").click()
    page.locator("[data-group=rest]").wait_for()
    page.get_by_role("button", name="Save as a hierarchy file").click()
    page.get_by_role("button", name="Apply this change").click()
    page.wait_for_url("**/hierarchies?*")
    named = "job: {role: quasi_identifier, hierarchy: {csv: hierarchies/clinic.job.csv}}"
    assert (policies / "clinic.yaml").read_text() == changed.replace("job: {role: quasi_identifier}", named)
    lines = (policies / "hierarchies" / "clinic.job.csv").read_text().splitlines()
    assert len(lines) == 6
    assert sum(line.split(";")[1] == "rest" for line in lines) > 1
    page.goto("/policies/clinic.yaml")
    steward.check()
