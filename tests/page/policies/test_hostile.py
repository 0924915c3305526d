"""Policies whose names and texts are written against the page."""

from __future__ import annotations

import subprocess
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from ppdm_flow.page.services.accounts.roles import PageRole

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
    steward = server.browser(PageRole.STEWARD)
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


def test_files_in_very_many_folders_are_not_looked_for(server):
    folder = server.site.policies.folder
    for depth, name in ((9, "near.yaml"), (40, "far.yaml")):
        inner = folder / "/".join("a" * depth)
        inner.mkdir(parents=True)
        (inner / name).write_text("version: 1\n")
    assert [each.name.rpartition("/")[2] for each in server.site.policies.list()] == ["near.yaml"]
    page = server.browser(PageRole.STEWARD).get("/policies")
    assert page.status_code == 200
    assert "near.yaml" in page.text


@pytest.mark.parametrize(("size", "status"), [(3_900_000, 200), (4_100_000, 413)])
def test_a_file_that_is_much_longer_than_a_policy_is_not_read(server, size, status):
    """Git brings files of any size, and a page holds several times of what it reads."""
    folder, steward = server.site.policies.folder, server.browser(PageRole.STEWARD)
    text = POLICY.rpartition("description")[0]
    file = folder / "long.yaml"
    file.write_text(text + f"# {'a' * 98}\n" * (size // 101))
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "first")):
        fixed = ["-c", "user.name=Someone", "-c", "user.email=some@one.example"]
        subprocess.run(["git", *fixed, *words], cwd=folder, check=True, capture_output=True)
    for page in ("", "/changes", "/form"):
        assert steward.get(f"/policies/long.yaml{page}").status_code == status, page
    file.write_text(text)
    assert steward.get("/policies/long.yaml").status_code == 200
    assert steward.get("/policies/long.yaml/changes").status_code == status, "as it was committed"
    assert steward.get("/policies").status_code == 200


def test_a_proposal_of_hostile_text_is_text(server):
    (server.site.policies.folder / "a.yaml").write_text("version: 1\nname: a\nreleases: {}\n")
    answer = server.browser(PageRole.STEWARD).send("/policies/a.yaml/propose", text=POLICY)
    tags = _Tags()
    tags.feed(answer.text)
    assert tags.bad == []
    assert answer.text.count("</textarea>") == 1
