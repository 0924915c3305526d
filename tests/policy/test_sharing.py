"""Policies that are checked together share their templates: each is read and parsed once, and nothing is mixed up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.policy import files as files_room
from ppdm_flow.policy import load
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.loaded import PolicyReading

TEMPLATES = {
    "templates/org.yaml": "params: {k: {type: integer, default: 5}}\nprivacy: {k_anonymity: {k: '${params.k}'}}\n"
    "floors: {privacy.k_anonymity.k: '>= 4'}\n",
    "templates/a.yaml": "extends: org.yaml\nnulls: wildcard\n",
    "templates/b.yaml": "extends: org.yaml\nnulls: exclude\nsource: {path: x.csv}\nowner:\n",
    "templates/c.yaml": "extends: [a.yaml, ../p3.yaml]\n",
    "templates/needs.yaml": "params: {who: {}}\nowner: ${params.who}\n",
    "templates/broken.yaml": "nulls: [\n",
}
POLICIES = {
    "p0.yaml": "extends: templates/a.yaml\n",
    "p1.yaml": "extends: [templates/a.yaml, templates/b.yaml]\n",
    "p2.yaml": "extends: [{template: templates/a.yaml, with: {k: 3}}]\n",
    "p3.yaml": "extends: templates/c.yaml\n",
    "p4.yaml": "extends: templates/b.yaml\nparams: {k: {default: 9}}\ndescription: ${params.k}\n",
    "p5.yaml": "extends: [templates/needs.yaml]\n",
    "p6.yaml": "extends: [{template: templates/needs.yaml, with: {who: me}}, templates/c.yaml]\n",
    "p7.yaml": "extends: templates/broken.yaml\n",
    "sub/p8.yaml": "extends: ../templates/b.yaml\n",
    "p9.yaml": "extends: [templates/broken.yaml, templates/gone.yaml, templates/needs.yaml]\n",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch, start: str) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    for name, text in {**TEMPLATES, **{n: start + t for n, t in POLICIES.items()}}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    return [Path(name) for name in POLICIES]


def told(loaded: PolicyReading):
    """Everything but the order in which the sources were read."""
    return replace(loaded, sources=dict(sorted(loaded.sources.items())), floors=(), params=())


def test_a_shared_library_changes_no_outcome(repository: list[Path]) -> None:
    for order in (repository, repository[::-1], [*repository, *repository]):
        library = Library()
        for path in order:
            alone, shared = load(path), load(path, library=library)
            assert told(shared) == told(alone)
            assert shared.floors == alone.floors
            assert shared.params == alone.params


def test_with_values_from_the_command_line_too(repository: list[Path]) -> None:
    library = Library()
    for path in repository:
        assert told(load(path, {"k": "7"}, library=library)) == told(load(path, {"k": "7"}))


def test_check_parses_each_file_once(repository: list[Path], monkeypatch) -> None:
    seen: Counter[str] = Counter()
    plain = files_room.parse

    def counted(text: str, file: str):
        seen[file] += 1
        return plain(text, file)

    monkeypatch.setattr(files_room, "parse", counted)
    outcome = api.check([str(p) for p in repository])
    assert len(outcome.files) == len(POLICIES)
    assert set(seen) == {*TEMPLATES, *POLICIES}
    assert set(seen.values()) == {1}


def test_check_says_what_each_policy_would_alone(repository: list[Path]) -> None:
    together = api.check([str(p) for p in repository])
    for path, found in zip(together.files, together.each, strict=True):
        assert found == api.check([str(path)]).diagnostics
