"""The first run in a browser: a new server, a steward who is invited, their table, a policy, a run, and sharing it.

Nothing is typed but names and passwords: what the page proposes is taken.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from actions import first_administrator, invited, opened
from served import PASSWORD, Person, Served, served

SCREENS = {"wide": ({"width": 1280, "height": 800}, "light"), "narrow": ({"width": 390, "height": 800}, "dark")}
MAIN = "main .button:not(.plain), main button:not(.plain):not(.danger):not([data-stop])"
_OVERFLOWING = """() => [...document.querySelectorAll("main *, header *")].filter((each) => {
  const data = each.closest(".first-rows, pre, .editor, textarea, select, svg") || each.querySelector(".first-rows");
  return !data && each.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    && each.getBoundingClientRect().width > 1;
}).map((each) => each.outerHTML.slice(0, 80))"""


def visits(file: Path) -> Path:
    """Write a table of people who visited a clinic, as a German spreadsheet writes one."""
    draw = random.Random(3)
    towns, illnesses = ["Köln", "Ulm", "Trier"], ["flu", "cold", "none"]
    rows = [f"{draw.randrange(20, 60)};{draw.choice(towns)};{draw.choice(illnesses)}\n" for _ in range(400)]
    file.write_bytes("".join(["age;town;disease\n", *rows]).encode("cp1252"))
    return file


class Steward(Person):
    """A person whose pages are held against the rules of narrow screens, and whose clicks are counted."""

    clicks = 0

    def look(self, name: str) -> None:
        """Check the page that is shown, and that nothing on it is off the screen but data in its own frame."""
        self.check()
        self.picture(name)
        assert self.page.evaluate(_OVERFLOWING) == [], name
        assert self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name

    def press(self, text: str) -> None:
        """Press the main button of the page, which says this."""
        self.clicks += 1
        main = self.page.locator(MAIN).first
        assert main.inner_text() == text
        main.click()


def _steward(chromium, server: Served, size, colors) -> Steward:
    """Open a new server's first account, invite a steward where the page says so, and sign them in."""
    administrator = Person(chromium, server, viewport=size, color_scheme=colors)
    first_administrator(administrator, server, "Ada")
    administrator.page.get_by_text("Invite a steward first").wait_for()
    administrator.page.get_by_label("Name of the steward").fill("Sam")
    administrator.check()
    administrator.page.get_by_role("button", name="Invite this steward").click()
    steward = Steward(chromium, server, viewport=size, color_scheme=colors)
    steward.page.goto(administrator.page.get_by_label("Link", exact=True).input_value())
    opened(steward)
    guest = Person(chromium, server)
    guest.page.goto(invited(administrator, "Gus", "Guest"))
    opened(guest)
    guest.context.close()
    administrator.context.close()
    return steward


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_run_takes_what_the_page_proposes(chromium, tmp_path, screen):
    with served(tmp_path) as server:
        sam = _steward(chromium, server, *SCREENS[screen])
        page = sam.page
        sam.look(f"first-home-{screen}")
        sam.press("Upload a table")
        sam.look(f"first-upload-{screen}")
        sam.clicks += 1
        page.get_by_label("File", exact=True).set_input_files(visits(tmp_path / "visits.csv"))
        sam.press("Upload")
        page.get_by_role("cell", name="Köln").first.wait_for()
        sam.look(f"first-rows-{screen}")
        sam.press("This is right, go on")
        page.wait_for_url("**/form/draft/*")
        sam.look(f"first-draft-{screen}")
        assert page.get_by_label("Name", exact=True).input_value() == "visits.yaml"
        sam.press("Make the policy")
        page.get_by_text("It runs on visits.csv, a table that you uploaded.").wait_for()
        sam.look(f"first-policy-{screen}")
        sam.press("Run it")
        page.wait_for_url("**/runs/**")
        assert page.get_by_role("heading", name="released").is_visible()
        sam.look(f"first-run-{screen}")
        sam.press("Share")
        sam.look(f"first-share-{screen}")
        sam.clicks += 1
        page.get_by_label("Gus", exact=True).check()
        sam.press("Share with these guests")
        page.get_by_text("The guests who are chosen see it now.").wait_for()
        sam.look(f"first-shared-{screen}")
        sam.clicks += 1
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("button", name="Copied").wait_for()
        assert sam.clicks == 10
        gus = Person(chromium, server, viewport=SCREENS[screen][0], color_scheme=SCREENS[screen][1])
        gus.page.goto(page.get_by_label("Link to send them").input_value())
        gus.page.get_by_label("Name").fill("Gus")
        gus.page.get_by_label("Password", exact=True).fill(PASSWORD)
        gus.page.get_by_role("button", name="Sign in").click()
        gus.page.locator("table.released").wait_for()
        gus.check()
        gus.picture(f"first-guest-{screen}")
        gus.context.close()

        page.goto("/policies/visits.yaml/costs")
        page.get_by_role("button", name="Measure what it costs").first.click()
        sam.look(f"first-costs-awaited-{screen}")
        page.get_by_text("Measured on the whole table").wait_for()
        sam.look(f"first-costs-{screen}")

        for address in ("/", "/uploads", "/policies", "/policies/visits.yaml/form", "/runs", "/jobs", "/shown"):
            page.goto(address)
            sam.look(f"first-after{address.replace('/', '-')}-{screen}")
        page.goto("/jobs")
        page.get_by_role("link", name="Run", exact=True).click()
        page.locator("#job summary").first.click()
        assert str(tmp_path) not in page.content()

        page.goto("/uploads")
        remove = page.get_by_role("button", name="Remove visits.csv")
        box = remove.bounding_box()
        assert box["x"] + box["width"] <= page.viewport_size["width"]
        remove.click()
        page.goto("/policies/visits.yaml")
        sam.look(f"first-gone-{screen}")
        assert page.locator(MAIN).first.inner_text() == "Upload a table"
        assert "Köln" not in (tmp_path / "state" / "page.sqlite3").read_bytes().decode(errors="replace")
        sam.context.close()
