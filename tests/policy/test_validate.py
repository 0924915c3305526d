"""Faults of shape: each at its own place, all at once, with the word that was meant."""

from __future__ import annotations

import random
import re
import shutil
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppdm_flow.core.spans import Span
from ppdm_flow.policy import load
from ppdm_flow.policy.language.shape import FixedKeys, Text, at
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq
from ppdm_flow.policy.text.parse import parse

ROOT = Path(__file__).resolve().parents[2]
POLICIES = sorted([*(ROOT / "pipelines").glob("*.yaml"), *(ROOT / "tests" / "examples" / "good").glob("*.yaml")])


def marked(loaded, code: str) -> set[str]:
    """What stands under the carets of a code."""
    lines = loaded.sources["p.yaml"].splitlines()
    spans = [d.span for d in loaded.diagnostics if d.code == code]
    return {lines[s.line - 1][s.column - 1 : s.end_column - 1] for s in spans}


@pytest.mark.parametrize(
    ("line", "code", "hint"),
    [
        ("privacy: {k_anonymity: 5}", "PPF208", "write `{k: 5}`"),
        ("source: adult.csv", "PPF208", "write `{path: adult.csv}`"),
        ("attributes: {age: QI}", "PPF208", "write `{role: QI}`"),
        ("attributes:\n  age:{role: sensitive}", "PPF208", "a blank belongs after the colon"),
        ("steps: {coarse: generalize}", "PPF208", "write `{use: generalize}`"),
        ("releases: {out: out.csv}", "PPF208", "write `{path: out.csv}`"),
        ("source: {path: a.csv, delimiter: x}", "PPF201", "under `with`"),
        ("source: {path: a.csv, separator: x}", "PPF201", None),
        ("steps: {s: {use: drop, attributes: [age]}}", "PPF201", "`with: {attributes: …}`"),
        ("privacy: {sensitivities: {a: {values: {v: {r1: 0.1, r2: 0,25}}}}}", "PPF210", "decimal point"),
        (
            "privacy: {templates: {t: {channel: [a], sensitive: b, confidence: 0.5}}}",
            "PPF208",
            "write `{b: [VALUE, …]}`",
        ),
    ],
)
def test_a_novice_is_told_what_to_write(read, start, line: str, code: str, hint: str | None) -> None:
    key = line.partition(":")[0]
    blocks = re.split(r"^(?=\S)", start, flags=re.MULTILINE)
    text = "".join(block for block in blocks if not block.startswith(f"{key}:"))
    hints = [d.hint for d in read(f"{text}{line}\n").diagnostics if d.code == code]
    assert hints
    assert hint is None or any(hint in (h or "") for h in hints), hints


@pytest.mark.parametrize(
    ("line", "code", "under"),
    [
        ("nam: x", "PPF201", "nam"),
        ("k: 5", "PPF201", "k"),
        ("privacy: {k_anonymity: {k: five}}", "PPF203", "five"),
        ("privacy: {k_anonymity: {k: 1}}", "PPF204", "1"),
        ("privacy: {k_anonymity: {k: 2.5}}", "PPF203", "2.5"),
        ("privacy: {k_anonymity: 5}", "PPF208", "5"),
        ("privacy: {k_anonymity: [k]}", "PPF208", "[k]"),
        ("privacy: {k_anonymity: {}}", "PPF202", "k_anonymity"),
        ("undeclared: pass", "PPF205", "pass"),
        ("steps:\n  - use: x", "PPF208", "steps"),
        ("steps:\n  1x: {use: drop}", "PPF206", "1x"),
        ("gates: {g: {metric: a.b, max: nan}}", "PPF204", "nan"),
        ("gates: {g: {metric: a.b, max: inf}}", "PPF204", "inf"),
        ("source: {columns: []}", "PPF209", "[]"),
        ("source: {missing: {a: b}}", "PPF208", "{a: b}"),
        ("source: {columns: [a, [b]]}", "PPF208", "[b]"),
        ("name: [x]", "PPF208", "[x]"),
        ("extends: {a: b}", "PPF208", "{a: b}"),
        ("params: {a-b: {}}", "PPF206", "a-b"),
        ("params: {x: {type: int}}", "PPF205", "int"),
        ("extends: [{template: x, wiht: {}}]", "PPF201", "wiht"),
        ("with_: {}", "PPF201", "with_"),
        ("releases: {a: {path: x, from_: b}}", "PPF201", "from_"),
    ],
)
def test_the_caret_is_on_the_token(read, start, line: str, code: str, under: str) -> None:
    key = line.partition(":")[0]
    kept = "".join(p for p in start.splitlines(keepends=True) if not p.startswith(f"{key}:"))
    if key == "releases":
        kept = kept.replace("  study: {path: study.csv}\n", "")
    assert under in marked(read(kept + line + "\n"), code)


def test_the_hint_is_the_right_place(read, start) -> None:
    (fault,) = [d for d in read(start + "k: 5\n").diagnostics if d.code == "PPF201"]
    assert fault.hint == "`k` belongs under `privacy.k_anonymity` or under `privacy.k_map`"


def test_a_misspelt_key_is_not_reported_as_missing_too(read, start, codes) -> None:
    text = start.replace("role: sensitive", "rool: sensitive") + "privacy: {k_anonymity: {k: 2}}\n"
    assert codes(read(text)) == ["PPF201"]


def test_all_faults_at_once_and_the_rules_on_the_rest(read, codes) -> None:
    text = """\
version: 1
nam: x
attributes:
  job: {role: qid}
  disease: {role: sensitive, domain: [a, b]}
privacy:
  k_anonymity: {k: one}
  templates:
    t: {channel: [job], sensitive: {disease: [c]}, confidence: 0.5}
    u: {channel: [jobb], sensitive: {disease: [a]}, confidence: 2}
  sensitivities:
    disease: {values: {a: {r1: 0.5, r2: 0.4}}}
releases:
  r: {path: ../x}
randomness: {mode: reproducible}
"""
    assert sorted(codes(read(text))) == [
        "PPF201",
        "PPF203",
        "PPF204",
        "PPF205",
        "PPF504",
        "PPF506",
        "PPF513",
        "PPF516",
        "PPF583",
    ]


def test_rules_say_nothing_of_what_was_left_out(read, start, codes) -> None:
    text = start.replace("job: {role: quasi_identifier}", "job: {rol: quasi_identifer}")
    text += "privacy: {k_anonymity: {k: 2, attributes: [job]}}\nsource: {columns: [job, city, disease]}\n"
    assert codes(read(text)) == ["PPF201"]


def test_rules_say_nothing_of_values_that_could_not_be_put_together(read, start, codes) -> None:
    text = start.replace("path: study.csv", "path: '${params.x}'").replace("  job:", "  '${params.y}':")
    text += "privacy: {k_anonymity: {k: 2, attributes: [job, '${params.z}']}}\n"
    assert set(codes(read(text))) == {"PPF304"}


def test_numbers_are_text_that_is_one(read, start) -> None:
    policy = read(start + "privacy: {k_anonymity: {k: '5'}}\ngates: {g: {metric: a.b, max: 1e-3}}\n").policy
    assert policy.privacy.entries("k_anonymity")[""].k == 5
    assert policy.gates["g"].max == 0.001


def test_texts_stay_text(read, start) -> None:
    policy = read(start.replace("job:", "010:") + "source: {missing: ['', 'NO', \"1.10\"], columns: [010]}\n").policy
    assert "010" in policy.attributes
    assert policy.source.missing == ("", "NO", "1.10")


def sites(node: Node, path: PolicyPath = ()) -> Iterator[tuple[str, Span, PolicyPath, bool]]:
    """Every key of the language, and every value of a fixed choice, that a file holds."""
    if isinstance(node, Map):
        shape = at(path)
        for key, entry in node.entries.items():
            if isinstance(shape, FixedKeys) and entry.plain and key != "extends":
                yield key, entry.key_span, path, True
            yield from sites(entry.node, (*path, key))
    elif isinstance(node, Seq):
        for i, item in enumerate(node.items):
            yield from sites(item, (*path, str(i)))
    elif isinstance(node, Scalar) and node.plain and node.text:
        shape = at(path)
        if isinstance(shape, Text) and len(shape.choices) > 1:
            yield node.text, node.span, path, False


def edited(word: str, draw: random.Random) -> str:
    """One edit: a letter too many, one too few, another one, or two in the wrong order."""
    i, letter = draw.randrange(len(word)), draw.choice(string.ascii_lowercase + "_")
    kind = draw.choice(["insert", "delete", "replace", "swap"])
    if kind == "insert":
        return word[:i] + letter + word[i:]
    if kind == "delete":
        return word[:i] + word[i + 1 :]
    if kind == "replace" or len(word) < 2:
        return word[:i] + letter + word[i + 1 :]
    i = min(i, len(word) - 2)
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :]


@pytest.mark.random
def test_a_typo_anywhere_is_marked_and_understood(tmp_path: Path) -> None:
    """One edit in any key or choice of the bundled policies: the caret always, the right word in 95 of 100."""
    draw = random.Random(20261120)
    tried = understood = 0
    shutil.copytree(ROOT / "tests" / "examples" / "good" / "templates", tmp_path / "templates")
    for source in POLICIES:
        text = source.read_text(encoding="utf-8")
        root, _ = parse(text, source.name)
        for word, span, path, is_key in list(sites(root)):
            shape = at(path)
            allowed = shape.keys if is_key else shape.choices
            wrong = edited(word, draw)
            if not wrong or wrong in allowed:
                continue
            lines = text.splitlines(keepends=True)
            line = lines[span.line - 1]
            lines[span.line - 1] = line[: span.column - 1] + wrong + line[span.column - 1 + len(word) :]
            file = tmp_path / "typo.yaml"
            file.write_text("".join(lines), encoding="utf-8")
            loaded = load(file)
            here = [
                d for d in loaded.diagnostics if d.span and (d.span.line, d.span.column) == (span.line, span.column)
            ]
            assert here, (source.name, word, wrong)
            tried += 1
            understood += any(f"`{word}`" in (d.hint or "") for d in here)
    assert tried > 400
    assert understood >= 0.95 * tried
