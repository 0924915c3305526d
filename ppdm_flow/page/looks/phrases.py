"""The words that the editor of policies says by itself, which CodeMirror has in English unless it is told others."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.page.texts.catalogue import catalogue

_KEYS: Mapping[str, str] = {
    "Find": "editor.find",
    "Replace": "editor.replace_with",
    "next": "editor.next",
    "previous": "editor.previous",
    "all": "editor.all",
    "match case": "editor.match_case",
    "regexp": "editor.pattern",
    "by word": "editor.by_word",
    "replace": "editor.replace",
    "replace all": "editor.replace_all",
    "close": "editor.close",
    "current match": "editor.current_match",
    "on line": "editor.on_line",
    "replaced match on line $": "editor.replaced_one",
    "replaced $ matches": "editor.replaced_many",
    "Go to line": "editor.go_to_line",
    "go": "editor.go",
    "Control character": "editor.control_character",
    "Completions": "editor.completions",
    "Diagnostics": "editor.findings",
    "No diagnostics": "editor.no_findings",
    "Fold line": "editor.fold",
    "Unfold line": "editor.unfold",
    "Folded lines": "editor.folded_lines",
    "Unfolded lines": "editor.unfolded_lines",
    "folded code": "editor.folded",
    "unfold": "editor.unfold_here",
    "to": "editor.to",
    "Selection deleted": "editor.deleted",
}


def editor_phrases() -> dict[str, str]:
    """Return CodeMirror's own words with those of the catalogue in their place."""
    t = catalogue()
    return {phrase: t(key) for phrase, key in _KEYS.items()}
