"""The forms of a sheet: whole and harmless HTML, Markdown that no name can break, the same bytes every time."""

from __future__ import annotations

import html as escapes
import itertools
import re
from html.parser import HTMLParser

import pytest

from ppdm_flow.report.datasheet import forms
from ppdm_flow.report.datasheet.sheet import Estimate, Promise, Sheet, SheetColumn, StepAccount, WaivedRequirement

VOID = {"meta", "link", "br", "img", "input", "hr", "circle", "path"}
HOSTILE = (
    "plain",
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}",
    "a|b\nc",
    "`<b>`",
    "```\n# heading",
    "[x](javascript:alert(1)) https://evil.example @someone",
    "\u202egnp.exe",
)


class Page(HTMLParser):
    """Collects elements, and checks that they close in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert [self.open.pop()] == [tag]

    def handle_data(self, data):
        self.text.append(data)


def hostile(name: str) -> Sheet:
    return Sheet(
        policy=name,
        release=name,
        description=name,
        day="2026-01-02",
        facts=(("File", name), ("Rows", "20 rows")),
        columns=(
            SheetColumn(name, name, name, (name,), kept=False),
            SheetColumn("b", "text", "", ("Kept.",), kept=True),
        ),
        left_out=(name,),
        rows=(name,),
        steps=(StepAccount(name, name, "", (name,), (name,), (name,), (name,), (name,)),),
        estimates=(Estimate(name, (name,), name, f"ppdm-flow reconstruct . --attribute {name}", name),),
        promises=(Promise(name, name, name, name, holds=True), Promise("w", "w", "", "x", holds=False)),
        gates=(Promise(name, name, name, "", holds=True),),
        assumptions=(name,),
        notes=(name,),
        waived=(WaivedRequirement(name, name, "2027-01-01"),),
        provenance=(("Release policy", name),),
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_markup_of_the_page(name):
    page, plain = Page(forms.render_html(hostile(name))), Page(forms.render_html(hostile("plain")))
    codes = {"code"} if "`" in name else set()
    assert [t for t, _ in page.tags if t not in codes] == [t for t, _ in plain.tags if t not in codes]
    assert not page.open
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert not [tag for tag, _ in page.tags if tag in {"script", "img", "iframe", "object"}]
    assert "\u202e" not in forms.render_html(hostile(name))


def test_the_page_is_complete_in_itself_and_accessible():
    text = forms.render_html(hostile("plain"))
    page = Page(text)
    assert text.startswith("<!doctype html>") or text.lstrip().startswith("<!doctype html>")
    assert "default-src 'none'" in text
    assert not re.search(r"(src|href)=\"(?!#)", text)
    assert "@media (prefers-color-scheme: dark)" in text
    assert {"lang": "en"} in [attributes for tag, attributes in page.tags if tag == "html"]
    assert [tag for tag, _ in page.tags if tag == "h1"] == ["h1"]
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    targets = [a["href"][1:] for tag, a in page.tags if tag == "a" and (a.get("href") or "").startswith("#")]
    assert set(targets) <= set(ids)
    assert len(targets) > 5
    labelled = [a["aria-labelledby"] for _, a in page.tags if "aria-labelledby" in a]
    assert set(labelled) <= set(ids)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_markup_of_markdown(name):
    text, plain = forms.render(hostile(name)), forms.render(hostile("plain"))
    lines, usual = text.split("\n"), plain.split("\n")
    assert len(lines) == len(usual)
    unescaped = re.compile(r"(?<!\\)\|")
    assert [line for line in lines if line.startswith("```")] == [line for line in usual if line.startswith("```")]
    outside, usual_outside = (re.sub(r"```(text|sh)\n.*?\n```", "", t, flags=re.DOTALL) for t in (text, plain))
    cells = [[len(unescaped.findall(line)) for line in t.split("\n")] for t in (outside, usual_outside)]
    assert cells[0] == cells[1]
    bare = re.sub(r"</?code>|<!-- -->", "", outside)
    assert "<" not in bare
    assert "https://" not in outside
    assert not re.search(r"(?<!\\)\]\(", outside)
    if name == "plain":
        assert escapes.unescape(plain) == plain


def test_the_same_sheet_gives_the_same_bytes():
    assert forms.render_html(hostile("x")) == forms.render_html(hostile("x"))
    assert forms.render(hostile("x")) == forms.render(hostile("x"))


def test_a_name_with_backticks_ends_no_block():
    text = forms.render(hostile("```\n# heading"))
    assert "\n# heading" not in text
