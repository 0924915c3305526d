"""Misspelt policies get the right suggestion: a share of what ``tests/benchmarks/typos.py`` measures in whole."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "typos.py"


@pytest.fixture(scope="module")
def typos() -> ModuleType:
    spec = importlib.util.spec_from_file_location("typos_measured", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.random
def test_single_edits_are_suggested_back_and_drawn_on_their_token(typos, tmp_path):
    verdicts = list(typos.measured(typos.bundled(tmp_path), share=0.1))
    assert len(verdicts) > 500
    assert {v.token.kind for v in verdicts} == {"key", "value", "plugin", "parameter", "parameter's value"}
    assert [v for v in verdicts if not v.caret] == []
    assert sum(v.hint for v in verdicts) >= 0.95 * len(verdicts)


def test_a_typo_that_nobody_would_suggest_back_is_counted_as_a_miss(typos, tmp_path):
    policy = typos.bundled(tmp_path)[0]
    text = policy.read_text(encoding="utf-8")
    token = next(t for t in typos.tokens(policy) if t.word == "description")
    verdict = typos.judged(policy, token, "zzzzzz", text, policy.with_name("misspelt.yaml"))
    assert verdict.caret
    assert not verdict.hint
