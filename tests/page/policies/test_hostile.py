"""Policies whose names and texts are written against the page."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from ppdm_flow.page.services.accounts.roles import Role

MARK = "<img src=x onerror=alert(1)>"
NAMES = [
    '"><img src=x onerror=alert(1)>.yaml',
    "a&b'c.yaml",
    "{{7*7}}.yaml",
    "a?b#c%zz.yaml",
    "a b+c;d.yaml",
    "ü\u202etxt.yaml",
    "=1+1.yaml",
]
POLICY = f"""version: 1
name: x
description: "{MARK} {{{{7*7}}}} </textarea><script>alert(1)</script>"
owner: "{MARK}"
attributes:
  "{MARK}": {{role: quasi_identifier}}
  b: {{role: {MARK!r}}}
privacy: {{k_anonymity: {{k: 5}}, "{MARK}": 1}}
steps: {{a: {{use: "{MARK}"}}}}
releases: {{r: {{path: "{MARK}"}}}}
"""


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.bad = []

    def handle_starttag(self, tag, attrs):
        own = tag == "script" and dict(attrs).get("src", "").startswith("/static/")
        if (tag in ("img", "script", "style", "iframe") and not own) or any(
            n.startswith("on") or n == "style" for n, _ in attrs
        ):
            self.bad.append((tag, attrs))


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", [n for n in NAMES if n.isprintable()])
def test_nothing_of_a_policy_becomes_markup(server, name):
    (server.site.policies.folder / name).write_text(POLICY)
    steward = server.browser(Role.STEWARD)
    assert quote(name) in steward.get("/policies").text
    pages = ("", "/edit", "/resolved", "/changes", "/history")
    for address in ("/policies", *(f"/policies/{quote(name)}{page}" for page in pages)):
        answer = steward.get(address)
        assert answer.status_code in (200, 422)
        tags = _Tags()
        tags.feed(answer.text)
        assert tags.bad == []
        assert "49.yaml" not in answer.text
        assert "49 &lt;" not in answer.text


def test_names_that_nobody_can_type_are_not_listed(server):
    for name in ("a\nb.yaml", "a\u202eb.yaml", "a\x1bb.yaml"):
        (server.site.policies.folder / name).write_text(POLICY)
    assert server.site.policies.list() == ()


def test_a_proposal_of_hostile_text_is_text(server):
    (server.site.policies.folder / "a.yaml").write_text("version: 1\nname: a\nreleases: {}\n")
    answer = server.browser(Role.STEWARD).send("/policies/a.yaml/propose", text=POLICY)
    tags = _Tags()
    tags.feed(answer.text)
    assert tags.bad == []
    assert answer.text.count("</textarea>") == 1
