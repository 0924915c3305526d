"""Compiled templates are kept as Python keeps its modules, and taken only where they fit."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from ppdm_flow.report import compiled_templates
from ppdm_flow.report.compiled_templates import CompiledTemplates


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "page.html.jinja").write_text("<p>{{ word }}{{ '<' }}</p>")
    (tmp_path / "maker.py").write_text("escaping = True\n")
    return tmp_path


def rendered(folder: Path, *, autoescape: bool = True) -> tuple[str, int]:
    """Return the page, and how many templates were compiled for it."""
    compiled = []

    class Counted(Environment):
        def compile(self, *given, **named):
            compiled.append(given)
            return super().compile(*given, **named)

    cache = CompiledTemplates(str(folder / "maker.py"))
    made = Counted(loader=FileSystemLoader(folder), autoescape=autoescape, bytecode_cache=cache)
    return made.get_template("page.html.jinja").render(word="&"), len(compiled)


def kept(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("__pycache__/*") if path.is_file())


def test_a_template_is_compiled_once(folder):
    assert [rendered(folder) for _ in range(3)] == [
        ("<p>&amp;&lt;</p>", 1),
        ("<p>&amp;&lt;</p>", 0),
        ("<p>&amp;&lt;</p>", 0),
    ]
    (path,) = kept(folder)
    assert path.name == f"page.html.{sys.implementation.cache_tag}.template"


def test_another_source_another_maker_and_another_version_are_compiled_anew(folder, monkeypatch):
    rendered(folder)
    (folder / "page.html.jinja").write_text("<b>{{ word }}</b>")
    assert rendered(folder) == ("<b>&amp;</b>", 1)
    (folder / "maker.py").write_text("escaping = False\n")
    assert rendered(folder, autoescape=False) == ("<b>&</b>", 1)
    monkeypatch.setattr(compiled_templates, "VERSION", "another")
    assert rendered(folder) == ("<b>&amp;</b>", 1)
    assert rendered(folder)[1] == 0


@pytest.mark.parametrize("damage", ["empty", "half", "noise", "text", "folder"])
def test_what_is_damaged_is_compiled_anew(folder, damage):
    rendered(folder)
    (path,) = kept(folder)
    whole = path.read_bytes()
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        parts = {"empty": b"", "half": whole[: len(whole) // 2], "noise": whole[:20] + b"\x80\xff" * 40, "text": b"no"}
        path.write_bytes(parts[damage])
    assert rendered(folder) == ("<p>&amp;&lt;</p>", 1)
    assert rendered(folder) == ("<p>&amp;&lt;</p>", 1 if damage == "folder" else 0)
    assert [p.name for p in kept(folder)] == ([] if damage == "folder" else [path.name])


def test_nothing_is_written_where_python_may_write_nothing(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(folder)[1] == rendered(folder)[1] == 1
    assert not kept(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (folder / "__pycache__").write_text("a file where the folder would be")
    assert rendered(folder)[1] == rendered(folder)[1] == 1


def test_templates_are_kept_where_python_keeps_its_modules(folder, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr(sys, "pycache_prefix", str(elsewhere))
    assert [rendered(folder)[1] for _ in range(2)] == [1, 0]
    assert not kept(folder)
    assert len(list(elsewhere.rglob("*.template"))) == 1


def test_a_template_that_is_no_file_is_not_kept():
    assert not CompiledTemplates(__file__).get_cache_key("page.html")


def test_many_at_once_read_whole_templates(folder):
    pages = []
    threads = [threading.Thread(target=lambda: pages.append(rendered(folder)[0])) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pages == ["<p>&amp;&lt;</p>"] * 16
    assert len(kept(folder)) == 1


@pytest.mark.slow
def test_a_second_process_compiles_no_template_of_the_report(tmp_path):
    program = """
import sys
sys.dont_write_bytecode = False
import jinja2
compiled = []
whole = jinja2.Environment.compile
jinja2.Environment.compile = lambda self, *given, **named: compiled.append(given) or whole(self, *given, **named)
from ppdm_flow.report.run import html
html.prepare()
print(len(compiled))
"""
    words = [sys.executable, "-X", f"pycache_prefix={tmp_path}", "-c", program]
    counts = [int(subprocess.run(words, capture_output=True, text=True, check=True).stdout) for _ in range(2)]
    assert counts[0] >= 4
    assert counts[1] == 0
