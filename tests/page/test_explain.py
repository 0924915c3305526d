"""Pages of the reference, rendered from Markdown."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from ppdm_flow.page.looks.markdown import html_of, title_of
from ppdm_flow.page.services.accounts.roles import PageRole


@pytest.mark.parametrize(
    "term", ["PPF201", "k_anonymity", "mondrian", "builtin:microdata-k", "quasi_identifier", "trust"]
)
def test_a_term_has_its_page_with_one_title_and_headings_in_order(server, term):
    page = server.browser(PageRole.GUEST).get(f"/explain/{term}")
    assert page.status_code == 200
    levels = [int(level) for level in re.findall(r"<h([1-6])", page.text)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


@pytest.mark.slow
def test_unknown_terms_are_told_with_what_is_near(server):
    browser = server.browser(PageRole.STEWARD)
    answer = browser.get("/explain/k_anonymty")
    assert answer.status_code == 404
    assert "k_anonymity" in answer.text
    assert browser.get("/explain", term="PPF201").status_code == 200
    assert browser.get("/explain/" + "x" * 5000).status_code == 404
    assert browser.get("/explain/../../etc/passwd").status_code == 404


@pytest.mark.slow
def test_everything_that_is_listed_has_a_page(server):
    browser = server.browser(PageRole.STEWARD)
    addresses = set(re.findall(r'href="(/explain/[^"]+)"', browser.get("/explain").text))
    assert len(addresses) > 300
    for address in sorted(addresses)[::17]:
        assert browser.get(address).status_code == 200, address


def test_markdown_is_no_way_to_write_markup():
    text = (
        "# t\n\n<img src=x onerror=a()> [x](javascript:alert(1)) ![i](https://e.example/x) `<b>` <http://e.example>\n"
    )
    made = html_of(text)
    assert title_of(text) == "t"
    assert "<img" not in made
    assert "javascript:" not in re.sub(r">[^<]*<", "><", made)
    assert "<b>" not in made


def test_tables_and_code_are_shown():
    made = html_of("# t\n\n| a | b |\n|---|---|\n| `PPF201` | x |\n\n```yaml\na: <1>\n```\n")
    assert '<a href="/explain/PPF201"><code>PPF201</code></a>' in made
    assert "a: &lt;1&gt;" in made
    assert '<th scope="col">a</th>' in made
