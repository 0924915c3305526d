"""Hostile names and values through every page: no element, attribute, script, address or header is made by them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from hostile_site import COLUMNS, FILE, SECRET, TAG, VALUES, HostileSite
from made_elements import faults
from sites import PASSWORD, PATIENCE, Browser
from walk import fields, filled, parts, routes

from ppdm_flow.page.http.headers import FRAMED, HEADERS
from ppdm_flow.page.http.route import PageRoute
from ppdm_flow.page.services.accounts.roles import PageRole

WHO = ("steward", "approver", PageRole.GUEST, PageRole.ADMINISTRATOR)
HOSTILE = (
    "zq\"'><zqel zqat=1 onclick=zq()>{{7*7}}zq\u202e\x07\r\nset-cookie: zq=1</title></textarea><script>zq()</script>"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> HostileSite:
    made = HostileSite.make(tmp_path_factory.mktemp("hostile"))
    guest = made.browsers[PageRole.GUEST]
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        pages = [guest.get(f"/released/{quote(run)}/public").text for run in (made.runs["out"], made.runs["copy"])]
        if all("<table" in page for page in pages):
            return made
        time.sleep(0.05)
    raise AssertionError("the tables for guests were not made")


def _names(site: HostileSite, part: str) -> list[str]:
    """Return what a part of an address can be, and what it cannot."""
    files = [f"{name}{FILE}.yaml" for name in ("out", "held", "back", "broken")]
    released = [
        each.relative_to(site.server.site.settings.runs / site.runs["out"] / "released" / "public").as_posix()
        for each in (site.server.site.settings.runs / site.runs["out"]).rglob("released/public/**/*")
        if each.is_file()
    ]
    known = {
        "policy": files,
        "release": ["public"],
        "job": site.jobs,
        "upload": [site.upload],
        "account": [str(user.id) for user in site.people.values()],
        "word": [],
        "term": ["k_anonymity", "PPF201"],
        "file": ["report.html", "report.json", "manifest.json", "policy.resolved.yaml", "plan.json"],
        "name": released,
        "version": ["1"],
    }
    return [*known[part], HOSTILE]


def addresses(site: HostileSite, route: PageRoute) -> Iterator[str]:
    """Yield the addresses of a route with all names that its parts can have: runs are those of their policy."""
    names = parts(route)
    if "run" not in names:
        chosen = itertools.product(*(_names(site, name) for name in names))
    else:
        runs = [tuple(run.split("/", 1)) for run in site.runs.values() if run] + [(HOSTILE, HOSTILE)]
        others = list(itertools.product(*(_names(site, name) for name in names[2:])))
        chosen = ((*run, *rest) for run in runs for rest in others)
    for words in chosen:
        yield filled(route, {name: quote(word, safe="") for name, word in zip(names, words, strict=True)})


def queries(site: HostileSite) -> Iterator[str]:
    """Yield what can stand behind the question mark."""
    yield ""
    yield "?" + urlencode(dict.fromkeys([*fields(), "c1", "c2", "c1from", "said", "part"], HOSTILE))
    for column in COLUMNS[:2]:
        yield "?" + urlencode({"attribute": column, "upload": site.upload, "search": TAG})
    yield "?" + urlencode(
        {"old": site.runs["out"], "new": site.runs["copy"], "c1": f"={VALUES[0]}", "c2": VALUES[1], "first": "0"}
    )


def check(answer, address: str) -> None:
    headers = answer.headers
    assert answer.status_code < 500, (address, answer.text[:300])
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] in (HEADERS["content-security-policy"], FRAMED["content-security-policy"])
    framed = headers["content-security-policy"] == FRAMED["content-security-policy"]
    for name, value in headers.items():
        assert not any(sign in value for sign in "\r\n<>"), (address, name)
        assert "zq" not in name
    assert not any("zq" in cookie for cookie in headers.get_list("set-cookie"))
    if not headers.get("content-type", "").startswith("text/html"):
        told = headers.get("content-disposition", "")
        inert = answer.status_code in (303, 304) or told.startswith("attachment")
        assert inert or headers["content-type"].startswith(("application/json", "text/plain")), address
        return
    assert "attachment" not in headers.get("content-disposition", "")
    assert faults(answer.text, framed=framed) == [], address


@pytest.mark.slow
@pytest.mark.parametrize("route", list(routes("GET")), ids=lambda route: route.path)
def test_no_string_makes_anything_of_a_page(site: HostileSite, route: PageRoute):
    for who, browser in site.browsers.items():
        allowed = route.access.public or route.access.allows(site.people[who])
        each = addresses(site, route)
        for address in each if allowed else itertools.islice(each, 1):
            for query in queries(site) if allowed and browser is not None else ("",):
                check(browser.get(f"{address}{query}"), f"{who}: {address}{query}")


@pytest.mark.slow
def test_the_strings_stand_on_the_pages_as_they_are(site: HostileSite):
    """The mirror image: what is checked above is not that nothing is shown."""
    steward, guest = site.browsers["steward"], site.browsers[PageRole.GUEST]
    shown = "&lt;zqel zqat=1 onclick=zq()&gt;"
    for address in ("/policies", "/jobs", "/uploads", f"/policies/{site.name('out')}/edit", "/shown"):
        assert shown in steward.get(address).text, address
    table = guest.get(f"/released/{quote(site.runs['out'])}/public").text
    assert table.count(shown) > 10
    assert "=HYPERLINK(" in table
    assert shown in site.browsers[PageRole.ADMINISTRATOR].get("/journal").text


def test_the_checker_sees_what_a_string_would_make():
    assert faults("<p>zq &lt;zqel&gt;</p>") == []
    for made in (
        TAG,
        '<a href="javascript:zq()">x</a>',
        "<p onclick='zq()'>",
        "<p>a\u202eb</p>",
        "<!--zq-->",
        "49zq",
        "<script>zq()</script>",
        "<p style='zq'>",
        '<p class="a" class="b">',
        "<a href='//zq.example'>",
    ):
        assert faults(made), made


@pytest.mark.slow
def test_values_of_what_was_withheld_are_for_whose_upload_it_is_alone(site: HostileSite):
    service = site.server.site
    other = service.accounts.named("other") or service.accounts.add(
        "other", [PageRole.STEWARD, PageRole.APPROVER], PASSWORD
    )
    browsers = {other: Browser(service, other), **{site.people[who]: site.browsers[who] for who in WHO[1:]}}
    own = "?" + urlencode({"attribute": COLUMNS[0], "upload": site.upload})
    for route in routes("GET"):
        for user, browser in browsers.items():
            if route.access.allows(user) and not route.access.public:
                for address, query in itertools.product(addresses(site, route), ("", own)):
                    assert SECRET not in browser.get(f"{address}{query}").text, (user.name, address, query)
    assert SECRET in site.browsers["steward"].get(f"/policies/{site.name('out')}/hierarchies/groups{own}").text
    state = service.settings.state
    written = [each for each in state.rglob("*") if each.is_file() and SECRET.encode() in each.read_bytes()]
    assert {each.relative_to(state).parts[0] for each in written} <= {"uploads", "hierarchies", "jobs"}
    assert any("uploads" in each.parts for each in written)
