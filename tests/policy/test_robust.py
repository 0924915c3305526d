"""Any file gives an outcome, never an exception, and never a policy without a fault in its place."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ppdm_flow.core.diagnostics import has_errors
from ppdm_flow.core.pages import pages
from ppdm_flow.policy import gates_of, load, requirements_of
from ppdm_flow.report.diagnostics import as_json, concise, render

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "pipelines").glob("*.yaml"), *(ROOT / "tests" / "examples" / "good").rglob("*.yaml")])
PIECES = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "\n",
    "  ",
    "\t",
    "null",
    "~",
    "&a ",
    "*a",
    "!x ",
    "<<: *a",
    "${params.k}",
]
PIECES += [
    "${",
    "'",
    '"',
    "|",
    "> ",
    "?",
    "? ",
    "#",
    "---\n",
    "\x00",
    "é",
    "😀",
    "extends: damaged.yaml\n",
    "⊥",
    "%",
    "@",
]
PIECES += ["1e999", "nan", "-0", "\r", "\u2028", "\x85", "\x1b[31m", "\u202e"]


def damaged(text: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 6)):
        i = draw.randrange(len(text)) if text else 0
        kind = draw.random()
        if kind < 0.4:
            text = text[:i] + draw.choice(PIECES) + text[i:]
        elif kind < 0.7:
            text = text[:i] + text[i + draw.randint(1, 30) :]
        elif kind < 0.85:
            k = draw.randrange(len(text) + 1)
            text = text[:k] + text[i : i + draw.randint(1, 60)] + text[k:]
        else:
            text = text[:i] + chr(draw.randrange(1, 0x3000)) + text[i + 1 :]
    return text


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_policies(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    file = tmp_path / "damaged.yaml"
    known = pages()
    for _ in range(250):
        file.write_text(damaged(draw.choice(FILES).read_text(encoding="utf-8"), draw), encoding="utf-8")
        loaded = load(file)
        drawn = render(loaded.diagnostics, loaded.sources) + concise(loaded.diagnostics)
        as_json(loaded.diagnostics)
        assert "\x1b" not in drawn
        assert "\u202e" not in drawn
        assert {d.code for d in loaded.diagnostics} <= set(known)
        if loaded.policy is None:
            assert has_errors(loaded.diagnostics)
        else:
            requirements_of(loaded.policy, loaded.places)
            gates_of(loaded.policy, loaded.places)


@pytest.mark.parametrize("seed", range(2))
def test_random_bytes(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    file = tmp_path / "bytes.yaml"
    for _ in range(200):
        file.write_bytes(draw.randbytes(draw.randint(0, 200)))
        loaded = load(file)
        assert loaded.policy is None
        assert has_errors(loaded.diagnostics)
