"""A sample of ``tests/campaigns/page_kills.py``, which says how its points are chosen, and what it would find."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "campaigns"))

import page_kills
from page_kills import Home, faults

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.site import Site, opened_site


@pytest.mark.kill
def test_kills_of_the_server(root: Path):
    done = subprocess.run(
        [sys.executable, str(root / "tests/campaigns/page_kills.py"), "--points", "12"],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        cwd=root,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    found = {what: int(number) for number, what in re.findall(r"^ *(\d+) (.+)$", done.stdout, re.MULTILINE)}
    assert found["faults"] == 0
    assert found["killed"] == 12
    assert found["killed while people worked"] >= 6


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def site(home: Home) -> Site:
    site = opened_site(home.settings)
    site.accounts.add("first", [PageRole.ADMINISTRATOR, PageRole.STEWARD], page_kills.PASSWORD)
    return site


def kept(site: Site):
    user = site.accounts.named("first")
    with site.uploads.arriving(user, len(page_kills.TABLE)) as arriving:
        arriving.write(page_kills.TABLE)
        return site.uploads.keep(user, arriving, "clinic.csv")


@pytest.mark.slow
def test_what_is_whole_has_no_faults(home: Home, site: Site):
    user = site.accounts.named("first")
    site.journal.begin(user, "accounts.open", "")
    begun = site.journal.begin(user, "uploads.add", "")
    kept(site)
    site.journal.add(user, "uploads.add", "", "done", begun)
    assert list(faults(home, [])) == []


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda home, site: kept(site).path.write_bytes(b"age\n"), "an upload is not whole"),
        (lambda home, site: (home.folder / "policies/clinic.yaml").write_text("version"), "the policy is not whole"),
        (lambda home, site: site.journal.add(None, "a.b", "", "done") or cut(home), "the journal's chain is broken"),
    ],
)
def test_what_is_not_whole_is_found(home: Home, site: Site, harm, told: str):
    harm(home, site)
    assert told in list(faults(home, []))


def test_what_was_answered_and_is_not_there_is_found(home: Home, site: Site):
    found = list(faults(home, ["uploads.add", "uploads.add", "policies.save", "account other", "approver first"]))
    assert "uploads.add was answered 2 times, and is in the journal 0 times" in found
    assert "0 uploads are left of 1" in found
    assert "the policy is not whole" in found
    assert "the account other is gone" in found
    assert "the account first lost a role" in found
    assert "accounts.open was done 1 times, and is in the journal 0 times" in found


def cut(home: Home) -> None:
    """Change an entry of the journal past what protects it."""
    import sqlite3

    connection = sqlite3.connect(home.settings.database)
    connection.execute("DROP TRIGGER journal_stays")
    connection.execute("UPDATE journal SET outcome = 'refused'")
    connection.commit()
    connection.close()
