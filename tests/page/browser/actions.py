"""What people do on the page, as they would: by labels, buttons and links."""

from __future__ import annotations

import re
from pathlib import Path

from served import PASSWORD, Person, Served

PASSPHRASE = "a lamp beside the river"


def first_administrator(person: Person, served: Served, name: str) -> None:
    """Open the one-time link that the server printed."""
    link = next(word for line in served.said for word in line.split() if "/open/" in word)
    person.page.goto(link)
    opened(person, name)


def opened(person: Person, name: str | None = None) -> None:
    """Choose a password on the page of a one-time link, and a name where it asks for one."""
    if name is not None:
        person.page.get_by_label("Name").fill(name)
    person.page.get_by_label("New password", exact=True).fill(PASSWORD)
    person.page.get_by_label("New password, once more").fill(PASSWORD)
    person.check()
    person.page.get_by_role("button", name="Open the account").click()
    person.page.get_by_role("heading", name="What you can do here").wait_for()


def invited(administrator: Person, name: str, *roles: str) -> str:
    """Invite somebody with these roles, and return their link."""
    page = administrator.page
    page.goto("/accounts")
    page.get_by_label("Name").fill(name)
    for role in roles:
        page.get_by_label(role, exact=True).check()
    page.get_by_role("button", name="Invite somebody").click()
    link = page.get_by_label("Link", exact=True).input_value()
    administrator.check()
    return link


def key_made(person: Person) -> str:
    """Make a signing key, and return its entry for the list of signers."""
    page = person.page
    page.goto("/key")
    page.locator("#make-passphrase").fill(PASSPHRASE)
    page.locator("#make-again").fill(PASSPHRASE)
    page.get_by_role("button", name="Make a key").click()
    page.get_by_role("heading", name="Your key").wait_for()
    person.check()
    return page.locator("#own-key pre").inner_text()


def uploaded(person: Person, file: Path) -> None:
    """Upload a table."""
    page = person.page
    page.goto("/uploads")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("The table is here.").wait_for()
    person.check()


def policy_made(person: Person, name: str, text: str) -> None:
    """Make a policy from an empty frame, and write its text in the editor."""
    page = person.page
    page.goto("/policies/new")
    page.get_by_label("Name").fill(name)
    person.check()
    page.get_by_role("button", name="Make it").click()
    page.goto(f"/policies/{name}/edit")
    written(person, text)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The file was saved.").wait_for()


def written(person: Person, text: str) -> None:
    """Paste a text in the place of what the editor has."""
    editor = person.page.locator(".cm-content")
    editor.click()
    person.page.keyboard.press("Control+A")
    editor.evaluate(
        """(field, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", text);
        field.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
        }""",
        text,
    )


def run_begun(person: Person, policy: str, *, data: str = "", sign: bool = False) -> None:
    """Run a policy on an uploaded table, and wait for its end: the run's page is open then."""
    page = person.page
    page.goto(f"/policies/{policy}/run")
    if data:
        page.get_by_label("Data", exact=True).select_option(label=data)
    if sign:
        page.get_by_label("Sign the run as its author").check()
        page.get_by_label("Passphrase of your key").fill(PASSPHRASE)
    person.check()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile("/runs/"))
    person.check()
