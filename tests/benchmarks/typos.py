"""Do misspelt policies get the right suggestion, with the caret on the right token? Every single edit, measured.

    python tests/benchmarks/typos.py [FILE…] [--share 1.0] [--misses 20] [--json FILE]

Each key of the language, each value out of a fixed list, each name of a plugin and each parameter of a plugin in each
bundled policy (``pipelines/``, ``tests/examples/good/``, the built-in templates and a fresh scaffold) is misspelt by
one edit: a letter left out, doubled, replaced or exchanged with the next, or a stray one put in. What is a word of the
same place again is no typo, and one place of one kind counts once, however many policies have it. A misspelt template
is checked by way of a policy that extends it.

``caret``: an error is drawn on just the misspelt token. ``hint``: an error drawn there names the word that stood there.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.api import init
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.policy.language.shape import FixedKeys, FreeShape, ListOf, Shape, Text, at, policy_model
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.sdk import registry

ROOT = Path(__file__).resolve().parents[2]
NEAR = {"a": "s", "s": "d", "i": "o", "o": "i", "e": "r", "r": "t", "t": "y", "n": "m", "m": "n", "l": "k", "k": "l"}
"""The neighbour on a keyboard."""


@dataclass(frozen=True)
class Token:
    """A word of the language in a policy: ``place`` says where in the language, names of one's own left out."""

    word: str
    place: tuple[str, ...]
    span: Span
    known: frozenset[str]
    kind: str


@dataclass(frozen=True)
class Verdict:
    """What a misspelling of a token came to."""

    token: Token
    typo: str
    policy: str
    caret: bool
    hint: bool


def tokens(path: Path) -> Iterator[Token]:
    """Yield the words of the language in a policy, in the order of the file."""
    root, _ = parse(path.read_text(encoding="utf-8"), str(path))
    if isinstance(root, Map):
        yield from _of_map(root, (), (), policy_model(), "key")


def _of_map(node: Map, path: tuple[str, ...], place: tuple[str, ...], model: type, kind: str) -> Iterator[Token]:
    fixed, policy = _fixed(at(path, model)), model is policy_model()
    for name, entry in node.entries.items():
        if fixed is not None and name in fixed and entry.plain:
            yield Token(name, place, entry.key_span, frozenset(fixed), kind)
        here = (*place, name if fixed is not None else "<name>")
        below = at((*path, name), model)
        if isinstance(below, FreeShape):
            yield from _of_plugin(node, entry.node, path, here) if policy else ()
        elif policy and name == "use" and isinstance(entry.node, Scalar):
            yield from _of_plugin_name(entry.node, path, here)
        elif (
            model is policy_model()
            and name == "format"
            and path[:1] in (("source",), ("releases",))
            and isinstance(entry.node, Scalar)
        ):
            group = "sources" if path[0] == "source" else "sinks"
            yield from _word(entry.node, here, (p.name for p in registry.listed(group)), "plugin")
        else:
            yield from _of_value(entry.node, (*path, name), here, model, kind)


def _fixed(shape: Shape | None) -> tuple[str, ...] | None:
    if isinstance(shape, ListOf) and shape.single:
        shape = shape.item
    return tuple(shape.keys) if isinstance(shape, FixedKeys) else None


def _of_value(node: Node, path: tuple[str, ...], place: tuple[str, ...], model: type, kind: str) -> Iterator[Token]:
    if isinstance(node, Map):
        yield from _of_map(node, path, place, model, kind)
    elif isinstance(node, Seq):
        for number, item in enumerate(node.items):
            yield from _of_value(item, (*path, str(number)), (*place, "[]"), model, kind)
    else:
        shape = at(path, model)
        if isinstance(shape, Text) and shape.choices:
            yield from _word(node, place, shape.choices, "value" if kind == "key" else "parameter's value")


def _of_plugin_name(node: Scalar, path: tuple[str, ...], place: tuple[str, ...]) -> Iterator[Token]:
    group = "anonymizers" if path[:1] == ("steps",) else "audits"
    yield from _word(node, place, (p.name for p in registry.listed(group)), "plugin")


def _of_plugin(owner: Map, given: Node, path: tuple[str, ...], place: tuple[str, ...]) -> Iterator[Token]:
    group = {"steps": "anonymizers", "audits": "audits", "source": "sources", "releases": "sinks"}.get(path[0], "")
    name = owner.get("use" if group in ("anonymizers", "audits") else "format")
    if not group or not isinstance(name, Scalar) or not isinstance(given, Map):
        return
    with contextlib.suppress(PpdmError):
        model = registry.load(group, name.text or "").params
        yield from _of_map(given, (), (group, name.text or ""), model, "parameter")


def _word(node: Scalar, place: tuple[str, ...], known: Iterable[str], kind: str) -> Iterator[Token]:
    every = frozenset(known)
    if node.text in every and not node.origin:
        yield Token(node.text, place, node.span, every, kind)


def edits(token: Token) -> Iterator[str]:
    """Yield every misspelling of a word by one edit, one way of each kind at each position."""
    word, seen = token.word, {token.word, ""}
    for i, letter in enumerate(word):
        near = NEAR.get(letter, "x")
        swapped = word[:i] + word[i + 1 : i + 2] + letter + word[i + 2 :]
        for typo in (
            word[:i] + word[i + 1 :],
            word[:i] + letter + word[i:],
            word[:i] + near + word[i + 1 :],
            word[:i] + near + word[i:],
            swapped,
        ):
            if typo not in seen and typo not in token.known and re.fullmatch(r"[A-Za-z0-9_-]+", typo):
                seen.add(typo)
                yield typo


def judged(path: Path, token: Token, typo: str, text: str, spare: Path, heir: Path | None = None) -> Verdict:
    """Write the file with the typo to ``spare``, check it or its ``heir``, and look at what is drawn."""
    lines = text.split("\n")
    line, start = token.span.line - 1, token.span.column - 1
    stop = token.span.end_column - 1
    written = lines[line][start:stop]
    quote = written[0] if written[:1] in ("'", '"') else ""
    lines[line] = lines[line][:start] + quote + typo + quote + lines[line][stop:]
    spare.write_text("\n".join(lines), encoding="utf-8")
    where = (token.span.line, token.span.column, token.span.column + len(typo) + 2 * len(quote))
    drawn = [d for d in _found(heir or spare) if d.span is not None and Path(d.span.file).name == spare.name]
    here = [d for d in drawn if d.severity is Severity.ERROR and _place(d) == where]
    hint = any(f"`{token.word}`" in (d.hint or "") for d in here)
    return Verdict(token, typo, path.name, bool(here), hint)


def _place(found: Diagnostic) -> tuple[int, int, int] | None:
    span = found.span
    return None if span is None or span.end_line != span.line else (span.line, span.column, span.end_column)


def _found(path: Path) -> tuple[Diagnostic, ...]:
    loaded = load(path)
    return loaded.diagnostics if loaded.policy is None else compile_policy(loaded).diagnostics


def bundled(folder: Path) -> list[Path]:
    """Copy every bundled policy into a folder, where it may be misspelt, and return the copies.

    One template is left out: the policy that extends it takes a step of it away, whose words are not looked at.
    """
    for source in ("pipelines", "tests/examples/good", "ppdm_flow/templates"):
        shutil.copytree(ROOT / source, folder / source, ignore=shutil.ignore_patterns("*.gz", "*.py", "*.svg"))
    init(folder / "scaffold")
    files = (p for p in sorted(folder.rglob("*.y*ml")) if not any(part.startswith(".") for part in p.parts))
    return [p for p in files if not p.name.endswith(".test.yaml") and p.stem != "modified-k-anonymity"]


def _heir(template: Path, spare: Path, policies: Iterable[Path]) -> Path | None:
    """Write a policy that extends ``spare`` in the place of the template, and return it; None where nobody does."""
    for policy in policies:
        text = policy.read_text(encoding="utf-8")
        places = (f"builtin:{template.stem}", os.path.relpath(template, policy.parent))
        for place in places:
            written = rf"(?<![\w/.:-])(\./)?{re.escape(place)}(?![\w.-])"
            if "\nreleases:" in text and re.search(rf"template: {written}|extends: {written}", text):
                heir = policy.with_name(f"heir-of-{template.stem}-{policy.name}")
                heir.write_text(re.sub(written, os.path.relpath(spare, policy.parent), text), encoding="utf-8")
                return heir
    return None


def measured(policies: Sequence[Path], share: float = 1.0, key: int = 7) -> Iterator[Verdict]:
    """Misspell every place of the language that the policies have, or a share of all misspellings."""
    dice = random.Random(key)
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for path in policies:
        text = path.read_text(encoding="utf-8")
        spare = path.with_name(f"misspelt-{path.name}")
        template = not re.search(r"^(releases|tests):", text, re.MULTILINE)
        heir = _heir(path, spare, policies) if template else None
        if template and heir is None:
            continue
        for token in tokens(path):
            if (token.word, token.place) in seen or token.span.end_line != token.span.line:
                continue
            seen.add((token.word, token.place))
            for typo in edits(token):
                if share >= 1 or dice.random() < share:
                    yield judged(path, token, typo, text, spare, heir)
        for made in (spare, heir):
            if made is not None:
                made.unlink(missing_ok=True)


def main() -> None:
    """Measure, print a table, and write it where asked."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("files", nargs="*", type=Path, help="policies; every bundled one if none is given")
    asked.add_argument("--share", type=float, default=1.0, help="of all misspellings, how many")
    asked.add_argument("--misses", type=int, default=20, help="how many to show of those without the right suggestion")
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        verdicts = list(measured(given.files or bundled(Path(folder)), given.share))
    rows = list(_rows(verdicts))
    for row in rows:
        print(f"{row['id']:<24} {row['typos']:>7} {row['caret']:>9.2%} {row['hint']:>9.2%}")
    for each in [v for v in verdicts if not (v.caret and v.hint)][: given.misses]:
        what = "caret" if not each.caret else "hint"
        print(f"no {what}: {each.typo} for {'.'.join((*each.token.place, each.token.word))} in {each.policy}")
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=2) + "\n")


def _rows(verdicts: list[Verdict]) -> Iterator[dict[str, Any]]:
    kinds = collections.defaultdict(list)
    for verdict in verdicts:
        kinds[verdict.token.kind].append(verdict)
    print(f"{'kind':<24} {'typos':>7} {'caret':>9} {'hint':>9}")
    for kind, every in [*sorted(kinds.items()), ("all", verdicts)]:
        share = {what: sum(getattr(v, what) for v in every) / len(every) for what in ("caret", "hint")}
        yield {"id": kind, "typos": len(every), **share}


if __name__ == "__main__":
    main()
