"""The page: complete in itself, hostile names shown and not obeyed, small, quick, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import html as escapes
import re
from html.parser import HTMLParser

import pytest
from contrast import contrast

from ppdm_flow.core.results import Chart, Figure, FigureSeries, RequirementResult
from ppdm_flow.report.run.html import render

VOID = {"meta", "link", "br", "img", "input", "hr"}
OPTIONAL = {"li", "td", "th", "tr", "tbody", "thead"}
HOSTILE = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}",
    "</title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "`<b>`",
    "a" * 300,
)


class Page(HTMLParser):
    """Collects what a browser would see, and checks that elements close in order."""

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
        while self.open and self.open[-1] != tag and self.open[-1] in OPTIONAL:
            self.open.pop()
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def every(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def scripts(text: str) -> list[str]:
    return re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)


@pytest.fixture
def page(document):
    return lambda **changes: render(document(**changes))


def test_the_verdict_comes_first_in_words_colour_and_icon(page):
    text = page(failing=True)
    main = text[text.index("<main>") :]
    hero = main[: main.index("</section>")]
    assert 'class="hero withheld"' in hero
    assert 'aria-label="does not hold"' in hero
    assert ">Withheld</h1>" in hero
    assert "No release has left (study and partner)." in hero
    assert "measured 54.2%, at most 50% is asked" in hero
    assert main.index("<section") == main.index('<section id="verdict"')
    assert '<section id="verdict" class="hero released"' in page()


def test_a_page_is_well_formed(page):
    for text in (page(), page(failing=True)):
        parsed = Page(text)
        assert parsed.open == []
        identifiers = [a["id"] for _, a in parsed.tags if a.get("id")]
        assert len(identifiers) == len(set(identifiers))
        targets = {a["href"][1:] for a in parsed.every("a")}
        assert targets <= set(identifiers)


def test_nothing_is_loaded_from_anywhere(page):
    text = page()
    parsed = Page(text)
    for tag, attributes in parsed.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "image", "use", "foreignobject"}
        for name, value in attributes.items():
            assert name not in {"src", "srcset", "xlink:href", "action", "data", "background", "ping"}
            assert not name.startswith("on")
            if name == "href":
                assert value.startswith("#")
    assert "@import" not in text
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", text)
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text.replace("http://www.w3.org/2000/svg", "")) == []


@pytest.mark.slow
def test_the_policy_of_the_page_allows_its_own_script_alone(page):
    text = page()
    (script,) = scripts(text)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [m["content"] for m in Page(text).every("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2]
    assert len(script.encode()) < 5000


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_not_obeyed(document, page, name):
    found = document(failing=True)
    before = [tag for tag, _ in Page(render(found)).tags]
    found["policy"] = name
    for result in [*found["requirements"], *found["gates"]]:
        result.update(sentence=name, metric=name)
        result["policy_span"]["file"] = name
    found["requirements"][-1]["id"] = f"privacy.templates.{name}"
    found["metrics"] = {f"x.{name}": {"value": 1.0, "unit": name, "note": name}}
    for step in found["steps"]:
        step.update(name=name, use=name, version=name, figures={}, description={name: {name: [name]}})
    for finding in found["findings"]:
        finding.update(text=name, subject=name)
    for chart in found["charts"]:
        chart.update(id=name, title=name, note=name, x_label=name, y_label=name, group=name)
        chart["x"] = [name] * len(chart["x"])
        for series in chart["series"]:
            series["name"] = name
    found["releases"] = {name: {"path": name}}
    found["run"] = {name: name}
    for part in ("steps", "releases"):
        for node in found["plan"][part]:
            node["description"] = name
            for attribute in node["attributes"]:
                attribute.update(name=name, source=name)
    text = render(found)
    parsed = Page(text)
    assert parsed.open == []
    assert {tag for tag, _ in parsed.tags} <= {*before, "code"}
    assert len(scripts(text)) == 1
    assert not any(key.startswith("on") for _, attributes in parsed.tags for key in attributes)
    assert all(a["href"].startswith("#") for a in parsed.every("a"))
    shown = "".join(parsed.text)
    assert name.replace("`", "") in shown.replace("`", "")
    if "<" in name:
        assert name not in text


def test_the_sheet_to_sign_is_bound_to_the_bytes(page):
    signed = page().partition('<section id="sheet"')[2]
    assert "SHA-256 <code>" + "1f" * 32 in signed
    assert "20,000 rows, 5 columns, bank.parquet" in signed
    assert "I approve that the data leaves" in signed
    withheld = page(failing=True).partition('<section id="sheet"')[2]
    assert "SHA-256" not in withheld
    assert "I take note that no data leaves." in withheld


def test_hostile_step_names_in_the_picture(document):
    found = document()
    for node in (*found["plan"]["steps"], *found["plan"]["audits"]):
        node["use"] = "<script>alert(1)</script>"
    assert len(scripts(render(found))) == 1


def test_the_same_document_gives_the_same_bytes(document):
    assert render(document()) == render(document())


def test_missing_figures_and_empty_parts_are_said(page, report):
    lost = RequirementResult("privacy.k_anonymity", "study", "m", 5.0, "at_least", None, False, "Not measured.")
    text = page(
        requirements=(lost,),
        verdict="withheld",
        gates=(),
        metrics={"a.b": Figure(None, "share", note="no rows")},
        steps=(),
        findings=(),
        releases={},
        plan={},
        run={},
        charts=(
            Chart("c", "Empty", "bars", (), ()),
            Chart("d", "No series", "lines", ("a", "b"), ()),
            Chart("e", "No values", "matrix", (), (FigureSeries("a", ()),)),
        ),
    )
    assert text.count("There is nothing to show.") == 3
    assert "not measured" in text
    assert Page(text).open == []


def test_odd_charts_are_drawn(page):
    charts = (
        Chart("one", "One point", "lines", ("a",), (FigureSeries("s", (0.5,), (0.4,), (0.6,)),)),
        Chart("flat", "All zero", "bars", ("a", "b"), (FigureSeries("s", (0.0, 0.0)),)),
        Chart("same", "All the same", "lines", ("1", "2"), (FigureSeries("s", (5.0, 5.0)),)),
        Chart("minus", "Below zero", "bars", ("a", "b"), (FigureSeries("s", (-3.0, 2.0)),)),
        Chart(
            "ragged", "Ragged", "bars", ("a", "b", "c"), (FigureSeries("s", (1.0,)), FigureSeries("t", (1.0, 2.0, 3.0)))
        ),
        Chart("huge", "Huge", "bars", ("a", "b"), (FigureSeries("s", (1e300, -1e300)),)),
        Chart("tiny", "Tiny", "lines", ("1", "2"), (FigureSeries("s", (1e-300, 2e-300)),)),
        Chart("wide", "Wide", "matrix", tuple("abcdefgh"), tuple(FigureSeries(c, tuple(range(8))) for c in "xyz")),
        Chart("nan", "Labels that read like no number", "lines", ("nan", "inf"), (FigureSeries("s", (1.0, 2.0)),)),
    )
    text = page(charts=charts)
    assert Page(text).open == []
    assert "nan" not in re.sub(r">[^<]*<|\"[^\"]*\"", "", text).lower()
    numbers = re.findall(r' (?:x|y|cx|cy|width|height|x1|x2|y1|y2)="([^"]*)"', text[text.index("<main>") :])
    assert numbers
    assert all(re.fullmatch(r"-?[\d.]+(e[-+]\d+)?%?", number) for number in numbers)


def test_only_used_terms_are_explained(page, report):
    text = page()
    assert "<dt>k-anonymity</dt>" in text
    assert "<dt>Suppression (⊥)</dt>" in text
    bare = page(requirements=(), gates=(), metrics={}, steps=(), findings=(), run={}, releases={})
    assert "<dt>k-anonymity</dt>" not in bare
    assert "<dt>Released, withheld</dt>" in bare


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_can_be_told_apart(page, theme):
    style = re.search(r"<style>(.*?)</style>", page(), flags=re.DOTALL)[1]
    block = style[style.index(f"color-scheme: {theme};") :]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block[: block.index("}")]))
    for ground in ("page", "card", "sunk"):
        for text in ("ink", "soft", "accent", "ok", "bad"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for text, ground in (
        ("ok", "ok-tint"),
        ("bad", "bad-tint"),
        ("warn", "warn-tint"),
        ("ink", "ok-tint"),
        ("ink", "bad-tint"),
    ):
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_a_reader_without_sight_or_script_gets_the_data(page):
    parsed = Page(page())
    for attributes in parsed.every("svg"):
        assert attributes.get("aria-label") or attributes.get("aria-hidden") or attributes.get("role") != "img"
    assert len(parsed.every("caption")) >= 5
    assert [a.get("lang") for a in parsed.every("html")] == ["en"]
    assert len(parsed.every("h1")) == 1
    assert "4,200" in "".join(parsed.text)


def test_values_stand_where_the_document_has_them_and_nowhere_else(document):
    found = document()
    words = set(re.findall(r"\w+", escapes.unescape(render(found))))
    assert {"Cook", "Trader"} <= words
    found["charts"] = []
    assert not {"Cook", "Trader"} & set(re.findall(r"\w+", escapes.unescape(render(found))))
