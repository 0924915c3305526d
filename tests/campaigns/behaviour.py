"""What every bundled policy and every good example comes to, written down, and compared with an earlier record.

    python tests/campaigns/behaviour.py --write before.json [--tree OTHER_CHECKOUT]
    python tests/campaigns/behaviour.py --compare before.json

Each is run in reproducible mode: exit status, verdict, requirements, gates, figures, codes of findings, and hashes of
the released and withheld files; of policies whose template asks for sealed draws, no figures and hashes. The bad
examples and all policies are checked: codes and exit status. Examples without data of their own get a table made from
what they declare. Wording is not recorded. Ends with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import yaml

HERE = Path(__file__).resolve().parents[2]
ROWS = 2_000
KEYS = {"PPDM_TEST_KEY": "a key of at least sixteen bytes", "STUDY_KEY": "another key of sixteen bytes"}
SHOWN = 40
REPRODUCIBLE = "randomness: {mode: reproducible, seed: 7}"
RANDOMNESS = re.compile(r"^randomness:.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
REAL = {
    "adult.yaml": "adult_uci/adult.data.gz",
    "arx_adult.yaml": "arx_adult/adult.csv",
    "crx.yaml": "crx/crx.data",
}
Record = dict[str, Any]


def record(tree: Path) -> Record:
    """Run and check everything with the program of ``tree``, on the policies of this checkout."""
    found: Record = {}
    with TemporaryDirectory() as name:
        work = Path(name)
        shutil.copytree(HERE / "pipelines", work / "pipelines")
        shutil.copytree(HERE / "tests/examples", work / "examples")
        for folder in ("pipelines", "examples/good"):
            for path in sorted((work / folder).glob("*.yaml")):
                told = found[f"run {folder}/{path.name}"] = _ran(path, tree)
                print(path.name, told["status"], told.get("verdict", ""), file=sys.stderr)
        for folder in ("pipelines", "examples/good", "examples/bad"):
            for path in sorted((work / folder).glob("*.yaml")):
                found[f"check {folder}/{path.name}"] = _checked(path, tree)
    return found


def _program(tree: Path, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **KEYS, "PYTHONPATH": str(tree), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "ppdm_flow", *map(str, words)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _checked(path: Path, tree: Path) -> Record:
    done = _program(tree, path.parent, "check", path.name, "--format", "json")
    return {"status": done.returncode, "codes": _codes(done.stdout)}


def _codes(text: str) -> list[str]:
    try:
        return sorted(d["code"] for d in json.loads(text)["diagnostics"])
    except (ValueError, KeyError):
        return ["no document"]


def _ran(path: Path, tree: Path) -> Record:
    """Run a copy of a policy in reproducible mode, or as it is where a template does not let it."""
    text = path.read_text(encoding="utf-8")
    copy = path.with_name(f"reproducible-{path.name}")
    copy.write_text(f"{RANDOMNESS.sub('', text)}\n{REPRODUCIBLE}\n", encoding="utf-8")
    told = _once(path, copy, tree)
    if "PPF308" in told["codes"]:
        copy.write_text(text, encoding="utf-8")
        told = _once(path, copy, tree)
        told = {k: v for k, v in told.items() if k in ("status", "codes", "verdict", "findings")}
    copy.unlink()
    return told


def _once(path: Path, policy: Path, tree: Path) -> Record:
    out = path.parent / "out" / path.stem
    whole = _resolved(policy, tree)
    words: list[object] = []
    if whole is not None:
        data = _data(path, whole)
        words = [] if data is None else ["--data", data]
    done = _program(tree, path.parent, "run", policy.name, "--out", out, *words)
    runs = [p.parent for p in out.rglob("report.json")]
    said = sorted({w.partition("]")[0] for w in done.stderr.split("[") if w.startswith("PPF")})
    if len(runs) != 1:
        return {"status": done.returncode, "codes": said}
    return {"status": done.returncode, "codes": said, **_outcome(runs[0])}


def _resolved(policy: Path, tree: Path) -> Record | None:
    """Return a policy with all that it inherits, every scalar a text."""
    shown = _program(tree, policy.parent, "show", policy.name)
    try:
        found = yaml.load(shown.stdout, yaml.BaseLoader)
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("attributes"), dict) else None


def _data(path: Path, whole: Record) -> Path | None:
    """Return the data to run on: the policy's own, a real dataset, or a table that is made for it."""
    source = whole.get("source") or {}
    if (path.parent / source.get("path", "?")).exists():
        return None
    real = os.environ.get("PPDM_DATA", HERE.parent / "shared/data")
    if path.name in REAL:
        return Path(real) / REAL[path.name]
    return None if any(a["role"] == "items" for a in whole["attributes"].values()) else _table(path, whole)


def _outcome(run: Path) -> Record:
    report = json.loads((run / "report.json").read_text(encoding="utf-8"))
    judged = {
        section: sorted(
            [r["id"], r["release"], r.get("metric"), r["measured"], r.get("bound"), r["holds"]] for r in rows
        )
        for section, rows in (("requirements", report["requirements"]), ("gates", report["gates"]))
    }
    files = {
        p.relative_to(run).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for folder in ("released", "withheld")
        for p in sorted((run / folder).rglob("*"))
        if p.is_file() and p.name not in {"dictionary.json", "datasheet.md", "datasheet.html"}
    }
    figures = {name: figure["value"] for name, figure in report["metrics"].items()}
    findings = sorted(f["code"] for f in report["findings"])
    return {"verdict": report["verdict"], **judged, "figures": figures, "findings": findings, "files": files}


def _table(policy: Path, whole: Record) -> Path:
    """Write a table for what a policy declares, as its source is read."""
    source, attributes = whole.get("source") or {}, whole["attributes"]
    named: dict[str, list[str]] = {}
    for name, values in _named(whole.get("privacy") or {}):
        named.setdefault(name, []).extend(v for v in values if v not in named.get(name, ()))
    draw = Random(policy.name)
    columns = {n.replace("*", "x"): list(_values(n, a, named.get(n, []), draw)) for n, a in attributes.items()}
    names = source.get("columns") or list(columns)
    rows = [[columns[n][i] if n in columns else "-" for n in names] for i in range(ROWS)]
    if source.get("format") == "jsonl" or source.get("path", "").endswith(".jsonl"):
        path = policy.with_suffix(".made.jsonl")
        path.write_text("".join(f"{json.dumps(dict(zip(names, r, strict=True)))}\n" for r in rows), encoding="utf-8")
        return path
    path = policy.with_suffix(".made.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=(source.get("with") or {}).get("delimiter", ","))
        writer.writerows(([] if source.get("columns") else [names]) + rows)
    return path


def _named(privacy: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the values that requirements name, by attribute."""
    for kind, clauses in privacy.items():
        for clause in clauses.values() if isinstance(clauses, dict) else ():
            if isinstance(clause, dict) and isinstance(clause.get("sensitive"), dict):
                yield from clause["sensitive"].items()
        if kind == "sensitivities":
            yield from ((name, list(clause.get("values") or {})) for name, clause in clauses.items())


def _values(name: str, attribute: Record, named: list[str], draw: Random) -> Iterator[str]:
    if attribute["role"] in ("identifier", "subject"):
        yield from (f"{name}-{i}" for i in range(ROWS))
        return
    kind = attribute.get("type", "text")
    levels = list(((attribute.get("hierarchy") or {}).get("levels")) or {})
    values = attribute.get("domain") or levels or [*named, *(f"{name} {i}" for i in range(4))]
    if kind in ("integer", "number", "float") and not attribute.get("domain"):
        values = [str(i) for i in range(20, 60)]
    if kind == "date" and not attribute.get("domain"):
        values = [f"20{y}-0{m}-1{m}" for y in (20, 21, 22) for m in range(1, 8)]
    weights = [1 / (i + 1) for i in range(len(values))]
    yield from draw.choices(values, weights, k=ROWS)


def differences(before: Record, now: Record) -> list[str]:
    """Return what differs, a line each: the place in the record, and both values."""
    found: list[str] = []
    _compare("", before, now, found)
    return found


def _compare(place: str, before: Any, now: Any, found: list[str]) -> None:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            _compare(f"{place}/{key}", before.get(key), now.get(key), found)
    elif before != now:
        found.append(f"{place}: {str(before)[:200]} -> {str(now)[:200]}")


def main() -> int:
    """Write a record, or compare with one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=HERE)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path)
    what.add_argument("--compare", type=Path)
    chosen = parser.parse_args()
    now = record(chosen.tree.resolve())
    if chosen.write:
        chosen.write.write_text(json.dumps(now, indent=1, sort_keys=True), encoding="utf-8")
        return 0
    found = differences(json.loads(chosen.compare.read_text(encoding="utf-8")), json.loads(json.dumps(now)))
    print("\n".join(found[:SHOWN]))
    print(f"{len(now)} recorded, {len(found)} differences")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
