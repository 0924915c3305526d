"""What CONTRIBUTING and ARCHITECTURE say of the repository is so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

SEARCHED = ("ppdm_flow", "schemas", "README.md", "pyproject.toml")
USERS = ("ppdm_flow/templates/", "ppdm_flow/api/scaffold/kit/", "ppdm_flow/pages/codes/")
"""Folders whose files use a thing as an example; they count only where a row is about them."""
WORD = r"\b{}\b"
PATTERNS = {
    "an anonymizer": WORD,
    "an audit": WORD,
    "a source or sink format": r'[`"]{0}[`"]|^{0} =|\bsources\.{0}\b',
    "a verb of the command line": r'"{0}"|^def {0}\b|^ppdm-flow {0}\b',
    "a diagnostic code": WORD,
    "a page on a concept": r"\bexplain {}\b",
    "a policy key": r'["`.]{0}\b|\b{0}[:=]',
    "a requirement": r"\b{}\b|\bDeltaDisclosure\b",
}
"""How the name of each row's example is found in a file's text; the words of English are common names, too."""
BASES = ("", ".github", "ppdm_flow", "ppdm_flow/engine", "ppdm_flow/policy")
"""Where paths in the documents begin: those of a room's folders in the room itself."""
ROW = re.compile(r"^\| (an? [\w ]+) \| `(\w+)` \| (.+) \| (\d+) \| (.+) \|$", re.MULTILINE)
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def rows(root: Path) -> list[tuple[str, str, str, int, str]]:
    text = (root / ".github/CONTRIBUTING.md").read_text()
    return [(thing, name, files, int(number), tests) for thing, name, files, number, tests in ROW.findall(text)]


def files_of(root: Path) -> Iterator[Path]:
    for name in SEARCHED:
        path = root / name
        every = path.rglob("*") if path.is_dir() else [path]
        yield from (p for p in every if p.is_file() and "__pycache__" not in p.parts)


def naming(root: Path, thing: str, name: str) -> set[str]:
    """Return the files that name an example, in their path or their text."""
    pattern = re.compile(PATTERNS[thing].format(name), re.MULTILINE)
    found = set()
    for path in files_of(root):
        place = path.relative_to(root)
        if thing != "a diagnostic code" and str(place).startswith(USERS):
            continue
        parts = {*place.parts[:-1], place.stem}
        if name in parts or pattern.search(path.read_text(encoding="utf-8")):
            found.add(str(place))
    return found


def test_the_table_has_a_row_for_each_thing(root):
    assert [thing for thing, *_ in rows(root)] == list(PATTERNS)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("thing", PATTERNS)
def test_a_row_of_the_table_is_true(root, thing):
    """Where it fails, the code has moved: correct the row of CONTRIBUTING by what is shown here."""
    ((name, files, number),) = [(n, f, c) for t, n, f, c, _ in rows(root) if t == thing]
    found = naming(root, thing, name)
    listed = tuple(quoted for quoted in QUOTED.findall(files) if quoted.startswith(SEARCHED))
    assert sorted(f for f in found if not f.startswith(listed)) == [], "named there, and not in the table"
    assert [p for p in listed if not any(f.startswith(p) for f in found)] == [], "in the table, and not named there"
    assert (number, sorted(found)) == (len(found), sorted(found))


@pytest.mark.parametrize("document", ["CONTRIBUTING", "ARCHITECTURE", "SECURITY"])
def test_paths_in_documents_exist(root, document):
    text = (root / f".github/{document}.md").read_text()
    quoted = [q for q in QUOTED.findall(text) if re.fullmatch(r"\.?[\w.-]+/[\w./-]*|[\w.-]+\.(py|md|toml|yaml)", q)]
    bases = [root / base for base in BASES]
    modules = {path.name for path in (root / "ppdm_flow").rglob("*.py")}
    missing = [q for q in quoted if q not in modules and not any((base / q).exists() for base in bases)]
    assert missing == []


def test_links_of_documents_lead_somewhere(root):
    folder = root / ".github"
    for document in folder.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (folder / target).exists(), f"{document.name}: {target}"


def contracts(root: Path) -> dict[str, dict]:
    found = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {contract["id"]: contract for contract in found}


def test_the_picture_has_the_layers_of_the_contract(root):
    text = (root / ".github/ARCHITECTURE.md").read_text()
    picture = re.search(r"```mermaid\n(.*?)```", text, re.DOTALL)[1]
    drawn = [" | ".join(label.split(" · ")) for label in re.findall(r'\["([^"<]+)', picture)]
    assert drawn == contracts(root)["staircase"]["layers"]


def test_every_contract_and_room_is_explained(root):
    text = (root / ".github/ARCHITECTURE.md").read_text()
    rooms = {p.parent.name for p in (root / "ppdm_flow").glob("*/__init__.py")} | {"pages", "templates"}
    assert [name for name in contracts(root) if f"`{name}`" not in text] == []
    assert [room for room in sorted(rooms) if f"| `{room}/` |" not in text] == []
