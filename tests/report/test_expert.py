"""A run laid out for an expert determination: what the report says, with its places, and boxes nobody has ticked."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from ppdm_flow.report.expert import chapters, html
from ppdm_flow.report.expert.chapters import INTROS, QUESTIONS, TITLES, determination
from ppdm_flow.report.run.public import public

PLACE = re.compile(r"(?:[\w./-]+\.yaml:\d+; )?(?:report|plan)\.json: [\w. +/-]+(?:; explain PPF\d{3})?|none")


@pytest.fixture
def document(document):
    return document(failing=True)


class Page(HTMLParser):
    """Counts elements, and collects what is loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loaded, self.ids, self.targets = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.loaded += [v for k, v in attrs if k in ("src", "srcset", "action") or (k == "href" and v[:1] != "#")]
        self.targets += [found["href"][1:]] if found.get("href", "").startswith("#") else []


def test_chapters_are_those_of_the_texts(document):
    whole = determination(document)
    assert [c.id for c in whole.chapters] == list(TITLES) == list(INTROS) == list(QUESTIONS)
    titles = " ".join(c.title for c in whole.chapters)
    assert all(f"Safe {word}" in titles for word in ("projects", "people", "settings", "data", "outputs"))
    sources = " ".join(c.sources for c in whole.chapters)
    assert all(words in sources for words in ("164.514(b)(1)(i)", "164.514(b)(1)(ii)", "ISO/IEC 27559", "Five Safes"))


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_every_row_names_its_place(document, audience):
    shown = public(document) if audience == "public" else document
    rows = [row for chapter in determination(shown).chapters for row in chapter.known]
    assert len(rows) > 20
    assert [row.place for row in rows if not PLACE.fullmatch(row.place)] == []
    assert all(row.name and row.text for row in rows)
    assert {"plan.json", "report.json"} <= {row.place.partition(":")[0] for row in rows if ".yaml" not in row.place}


def test_each_requirement_gate_column_and_audit_figure_is_there(document):
    by_chapter = {c.id: c for c in determination(document).chapters}
    data = [row.name for row in by_chapter["data"].known]
    assert sum(name.startswith("Requirement ") for name in data) == len(document["requirements"])
    columns = sum(len(node["attributes"]) for node in document["plan"]["releases"])
    assert sum(name.startswith("Column ") for name in data) == columns
    assert sum(row.name.startswith("Gate ") for row in by_chapter["outputs"].known) == len(document["gates"])
    named = {a["name"] for a in document["plan"]["audits"] if not a["requirements"]}
    figures = {m for m in document["metrics"] if m.rpartition("/")[2].partition(".")[0] in named}
    assert len([r for r in by_chapter["attacks"].known if r.name in figures]) == min(60, len(figures))


def test_boxes_are_empty_and_all_there(document):
    text, page = chapters.render(document), html.render(document)
    questions = [q for each in QUESTIONS.values() for q in each]
    assert text.count("- [ ] ") == len(questions)
    assert "[x]" not in text.lower()
    assert page.count('class="box"') == len(questions)
    assert "<input" not in page
    assert all(f"## {n}. {title}" in text for n, (title, _) in enumerate(TITLES.values(), start=1))


def test_the_page_needs_nothing_else(document):
    page = Page(html.render(document))
    assert page.loaded == []
    assert "script" not in page.tags
    assert len(page.ids) == len(set(page.ids))
    assert set(page.targets) <= set(page.ids)
    assert "prefers-color-scheme: dark" in html.render(document)


def test_it_is_for_whom_the_report_is_for(document):
    for whole, word in ((document, "Internal"), (public(document), "Public")):
        assert f"**{word}.**" in chapters.render(whole)
        assert f"<b>{word}.</b>" in html.render(whole)
    hashes = re.findall(r"[0-9a-f]{64}", json.dumps(document["run"].get("input", {})))
    assert not any(h in chapters.render(w) for h in hashes for w in (document, public(document)))


def test_a_public_one_has_no_internal_figure(document):
    shown = public(document)
    internal = set(document["metrics"]) - set(shown["metrics"])
    text = chapters.render(shown)
    assert internal
    assert not any(f"| {metric} |" in text for metric in internal)


def test_names_cannot_write_into_the_document(document):
    hostile = '<img src=x onerror="alert(1)">|`]('
    changed = {**document, "policy": hostile}
    changed["plan"] = {**document["plan"], "policy": hostile}
    page = Page(html.render(changed))
    assert "img" not in page.tags
    assert page.loaded == []
    assert "<img" not in chapters.render(changed)


def test_a_failing_requirement_is_said_to_fail(document):
    rows = [row for c in determination(document).chapters for row in c.known if row.state == "fails"]
    checks = [r for r in (*document["requirements"], *document["gates"]) if not r["holds"] and not r.get("waived_by")]
    assert sum(row.name.startswith(("Requirement", "Gate")) for row in rows) == len(checks)
    assert all("does not hold" in row.text for row in rows if row.name.startswith(("Requirement", "Gate")))


def test_the_same_document_gives_the_same_text(document):
    again = json.loads(json.dumps(document))
    assert chapters.render(again) == chapters.render(document)
    assert html.render(again) == html.render(document)
