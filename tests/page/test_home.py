"""The first page: where somebody's work on a release stands, and the one thing to do next."""

from __future__ import annotations

import re

import pytest
from sites import PATIENCE, Browser, Server

from ppdm_flow.page.services.accounts.roles import PageRole

TABLE = b"age,town\n" + b"".join(b"%d,town %d\n" % (20 + number % 5, number % 2) for number in range(60))
STEWARD = PageRole.STEWARD
_NEXT = re.compile(r'<a class="button" href="([^"]+)">([^<]+)</a>')
_STEP = re.compile(r'<li class="(\w+)"[^>]*><strong>([^<]+)</strong>')


def _next(browser: Browser) -> tuple[str, str]:
    """Return the main button of the first page, which has one alone."""
    [found] = _NEXT.findall(browser.get("/").text)
    return found


def _steps(browser: Browser) -> dict[str, str]:
    return {step: state for state, step in _STEP.findall(browser.get("/").text)}


def _finished(server: Server):
    return server.site.jobs.finished(server.site.jobs.of(server.users[STEWARD])[0], PATIENCE)


@pytest.mark.slow(quick=1)
def test_a_steward_is_led_from_a_table_to_a_shared_release(server):
    steward = server.browser(STEWARD)
    assert _next(steward) == ("/uploads", "Upload a table")
    upload = server.upload(STEWARD, "visits.csv", TABLE)
    assert _next(steward)[0] == f"/uploads/{upload.id}"
    assert _steps(steward)["What the columns are"] == "now"

    steward.send("/form/new", upload=upload.id, header="guess")
    steward.send(_finished(server).leads_to, name="visits", purpose="a study  of visits")
    assert 'name: visits\ndescription: "a study of visits"\n' in server.site.policies.read("visits.yaml").text
    assert _next(steward)[0] == "/policies/visits.yaml"
    assert _steps(steward) == {
        "Purpose": "done",
        "Upload": "done",
        "What the columns are": "done",
        "What must hold": "now",
        "Run": "later",
        "Read": "later",
        "Share": "later",
    }

    steward.send("/policies/visits.yaml/run", upload=upload.id)
    run = _finished(server).made
    assert _next(steward) == (f"/runs/{run}", "Read the result")
    steward.send(f"/shown/{run}/study/show", guest=server.users[PageRole.GUEST].id)
    assert _next(steward) == ("/uploads", "Begin with another table")
    assert set(_steps(steward).values()) == {"done"}
    assert "visits" not in server.browser(PageRole.GUEST).get("/").text

    server.upload(STEWARD, "more.csv", TABLE)
    assert _next(steward)[1] == "Look at its first rows"


@pytest.mark.slow
def test_a_run_that_failed_is_the_next_thing(server):
    steward, upload = server.browser(STEWARD), server.upload(STEWARD, "visits.csv", TABLE)
    steward.send("/form/new", upload=upload.id, header="guess")
    steward.send(_finished(server).leads_to, name="visits")
    steward.send("/policies/visits.yaml/run")
    job = _finished(server)
    assert _next(steward) == (f"/jobs/{job.id}", "See what went wrong")
    assert _steps(steward)["Purpose"] == "open"


def test_the_first_administrator_invites_a_steward_there(server):
    administrator = server.browser(PageRole.ADMINISTRATOR)
    assert "Invite a steward first" not in administrator.get("/").text
    server.site.accounts.set_roles(server.users[STEWARD].id, [PageRole.GUEST])
    assert "Invite a steward first" in administrator.get("/").text
    answer = administrator.send("/accounts", name="Sam", role="steward")
    assert "/open/" in answer.text
    assert server.site.accounts.named("Sam").roles == {STEWARD}
    assert "Invite a steward first" not in administrator.get("/").text


def test_nobody_else_is_told_of_steps(server):
    for role in (PageRole.GUEST, PageRole.APPROVER, PageRole.ADMINISTRATOR):
        page = server.browser(role).get("/").text
        assert 'class="steps"' not in page, role
