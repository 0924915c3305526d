"""What every bundled policy, every good example and the campaign's own policies come to, compared with a record.

    python tests/campaigns/behaviour.py --write before.json [--tree OTHER_CHECKOUT]
    python tests/campaigns/behaviour.py --compare before.json [--aliases codes.txt] [--texts]

Each policy is run with the command line on data that fits it (`behaviour_data.py`), two at once. Recorded are exit
status, verdict, requirements, gates, figures, charts, codes, and all rows of the released files; of what is withheld
the rows that `--keep-withheld` keeps (`behaviour_outcomes.py`). What is held for approvals is signed and released. The
bad examples and all policies are checked: codes and exit status. Texts are recorded, and compared with ``--texts``.

Secret keys come from `secrets.token_bytes`, which always gives the same bytes here, so that sealed draws are the same
in every run. Policies and data are those of this checkout for any ``--tree``. Exit status: 1 where anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from behaviour_data import DATA, FILES, FORMATS, WITHHELD, Table, Text
from behaviour_outcomes import read_outcome, read_texts
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ROOT = Path(__file__).resolve().parents[2]
OWN = "tests/campaigns"
GOOD, BAD = "tests/examples/good", "tests/examples/bad"
RUN_FOLDERS = ("pipelines", GOOD, f"{OWN}/withheld", f"{OWN}/formats")
KEY = "a key of at least sixteen bytes"
ENVIRONMENT = {"NO_COLOR": "1", "COLUMNS": "120", "PPDM_TEST_KEY": KEY, "STUDY_KEY": KEY, "CLINIC_KEY": KEY}
REAL_DATA = {
    "adult": "adult_uci/adult.data.gz",
    "arx_adult": "arx_adult/adult.csv.gz",
    "crx": "crx/crx.data",
}
"""Data of policies that name none, in the folder of public datasets."""
LEDGERS = {"ledger": ("releases.ledger", "secure/releases.key"), "cumulative_k": ("releases.ledger", "releases.key")}
APPROVALS = (("bob", "data-owner"), ("dora", "privacy-officer"))
"""Who signs what is held: `signers/house.yaml` lists them, and alice, the author."""
NO_POLICIES = {"templates", "signers", "tests"}
"""Folders whose files are parts of policies, or tests of them."""
AT_ONCE = 2
SHOWN = 60
CLOSE = 1e-9
"""How far, of itself, a figure may move: sums in another order differ in the last digits."""
PROGRAM = """
import hashlib, runpy, secrets
secrets.token_bytes = lambda size=32: hashlib.shake_256(b"the same in every run").digest(32 if size is None else size)
runpy.run_module("ppdm_flow", run_name="__main__", alter_sys=True)
"""
UNTIL = re.compile(r"until: \"?\d{4}-\d\d-\d\d\"?")
VOLATILE = (
    (re.compile(r"\d{8}T\d{6}Z-[0-9a-f]+"), "RUN"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "HASH"),
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\+00:00)?)?"), "DAY"),
    (re.compile(r" in [\d.,]+ (m?s|min)\b"), " in TIME"),
)
Record = dict[str, Any]


@dataclass(frozen=True)
class Checkout:
    """A copy of the product of the checkout ``tree``, in ``folder``, so that nobody's work changes it during the runs.

    It has the entry points of that checkout's `pyproject.toml`: those of the installed package are of another checkout
    or another day.
    """

    tree: Path
    folder: Path

    def copy(self) -> None:
        """Copy the product, and write what `importlib.metadata` reads of an installed package."""
        shutil.copytree(self.tree / "ppdm_flow", self.folder / "ppdm_flow")
        project = tomllib.loads((self.tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        version = project.get("version", "0.2.0")
        folder = self.folder / f"ppdm_flow-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ppdm_flow\nVersion: {version}\n")
        lines = []
        for group, entries in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {place}" for name, place in entries.items())]
        (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(self, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
        """Run the command line with these words, in a new process."""
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-P", "-c", PROGRAM, *map(str, words)]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )


@dataclass(frozen=True)
class PolicyRun:
    """One policy in a folder of its own, with the data that it reads; ``path`` is its place in the checkout."""

    checkout: Checkout
    path: str
    folder: Path

    @property
    def name(self) -> str:
        """The policy's name, as `FILES` has it."""
        return Path(self.path).stem

    @property
    def home(self) -> Path:
        """The folder of the copied policy."""
        return (self.folder / self.path).parent

    def record(self) -> Record:
        """Run it, release what is held, and return what came of each by a name."""
        data = write_with_data(self.path, self.folder)
        if self.name in LEDGERS:
            place, key = LEDGERS[self.name]
            (self.home / key).parent.mkdir(exist_ok=True)
            self.checkout.run(self.home, "ledger", place, "--create", "--key", key)
        found = {f"run {self.path}": self._run("out", data)}
        if self.name in LEDGERS:
            found[f"run again {self.path}"] = self._run("again", data)
        if found[f"run {self.path}"].get("verdict") == "held":
            found[f"release {self.path}"] = self._release()
        return found

    def _run(self, out: str, data: list[object]) -> Record:
        if self.name.startswith("approvals") and self.path.startswith(GOOD):
            data = [*data, "--sign", private_key("alice", self.folder)]
        name = Path(self.path).name
        words = ("--out", self.folder / out, "--keep-withheld", "--workers", 1, *data)
        done = self.checkout.run(self.home, "run", name, *words)
        runs = [report.parent for report in (self.folder / out).rglob("report.json")]
        found = self._said(done)
        if len(runs) == 1:
            try:
                found |= read_outcome(runs[0])
                found["texts"] |= read_texts(runs[0])
            except (KeyError, TypeError, ValueError) as error:  # another form of report, or a file that is none
                found["unreadable"] = repr(error)
        return found

    def _release(self) -> Record:
        (report,) = (self.folder / "out").rglob("report.json")
        run = report.parent
        signed = [
            self.checkout.run(self.home, "sign", run, "--key", private_key(who, self.folder), "--role", role)
            for who, role in APPROVALS
        ]
        found = self._said(self.checkout.run(self.home, "release", run))
        return found | {"signed": [done.returncode for done in signed], "files": read_outcome(run)["files"]}

    def _said(self, done: subprocess.CompletedProcess[str]) -> Record:
        """Return the exit status of a process, the codes that it names, and its texts."""
        texts = {}
        for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
            lines = steady(text, self.folder).splitlines()
            texts[name] = [line for line in lines if " in TIME" not in line and not line.startswith("compiling")]
        codes = sorted(set(re.findall(r"\bPPF\d{3}\b", done.stderr)))
        return {"status": done.returncode, "codes": codes, "texts": texts}


def steady(text: str, folder: Path) -> str:
    """Return a text without what differs from run to run: folders, times, hashes and days."""
    text = text.replace(f"{folder}/", "").replace(str(folder), "")
    for pattern, name in VOLATILE:
        text = pattern.sub(name, text)
    return text


def write_with_data(policy: str, folder: Path) -> list[object]:
    """Copy all policies, and write what this one reads; return the words that pass it data, if it names none itself."""
    copy_policies(folder)
    path = folder / policy
    parent = re.search(r"examples/good/(\w+)\.yaml", path.read_text(encoding="utf-8"))
    files: dict[Path, Table | Text] = {}
    if parent or policy.startswith(GOOD):
        name = parent[1] if parent else path.stem
        files = {folder / GOOD / place: table for place, table in FILES[name].items()}
    elif policy.startswith(OWN):
        of_folder = WITHHELD if path.parent.name == "withheld" else FORMATS
        files = {path.parent / place: table for place, table in of_folder.items()}
    for place, table in files.items():
        table.write(place, f"{place.relative_to(folder)}")
    if policy.startswith("pipelines") and path.stem in REAL_DATA:
        return ["--data", Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")) / REAL_DATA[path.stem]]
    return [word for place in files if place.name == DATA for word in ("--data", place)]


def copy_policies(folder: Path) -> None:
    """Copy all policies; their waivers end half a year from today."""
    for place in RUN_FOLDERS:
        shutil.copytree(ROOT / place, folder / place)
    until = (datetime.now(UTC) + timedelta(days=180)).date()
    for path in (folder / GOOD).glob("waive*.yaml"):
        _change(path, until.isoformat())
    _change(folder / GOOD / "approvals_of_a_template.yaml", until.isoformat())


def _change(path: Path, until: str) -> None:
    path.write_text(UNTIL.sub(f"until: {until}", path.read_text(encoding="utf-8")), encoding="utf-8")


def private_key(name: str, folder: Path) -> Path:
    """Write the key of one of the signers in `signers/house.yaml`: the hash of the name."""
    path = folder / f"{name}.key"
    key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.touch(0o600)
    path.write_bytes(key.private_bytes(*form))
    return path


def policies(only: str) -> list[str]:
    """Return the paths of all policies that are run, those whose path has ``only`` in it."""
    files = (path for place in RUN_FOLDERS for path in sorted((ROOT / place).rglob("*.yaml")))
    paths = (path.relative_to(ROOT) for path in files if path.parent.name not in NO_POLICIES)
    return [path.as_posix() for path in paths if only in path.as_posix()]


def record(tree: Path, only: str = "") -> Record:
    """Run and check everything with the product of ``tree``."""
    with TemporaryDirectory() as name:
        work = Path(name)
        checkout = Checkout(tree, work / "product")
        checkout.copy()

        def run(path: str) -> Record:
            begun = time.monotonic()
            folder = work / path.replace("/", "-")
            found = PolicyRun(checkout, path, folder).record()
            shutil.rmtree(folder)
            seconds = time.monotonic() - begun
            for what, came in found.items():
                print(f"{seconds:5.1f} s  {came['status']} {came.get('verdict', ''):9} {what}", file=sys.stderr)
            return found

        with ThreadPoolExecutor(AT_ONCE) as pool:
            parts = list(pool.map(run, policies(only)))
        if not only:
            copy_policies(work / "checked")
            shutil.copytree(ROOT / BAD, work / "checked" / BAD)
            parts += [dict(check_folder(checkout, work / "checked", folder)) for folder in (*RUN_FOLDERS, BAD)]
        return {what: came for part in parts for what, came in part.items()}


def check_folder(checkout: Checkout, copy: Path, folder: str) -> Iterator[tuple[str, Record]]:
    """Check all policies of a folder at once; yield the codes of each, and the exit status under the folder's name."""
    files = sorted((copy / folder).glob("*.yaml"))
    done = checkout.run(copy / folder, "check", *(file.name for file in files), "--format", "json")
    try:
        diagnostics = json.loads(done.stdout)["diagnostics"]
    except (ValueError, KeyError):
        diagnostics = [{"file": folder, "code": "no document", "severity": "", "message": done.stderr}]
    yield f"check {folder}", {"status": done.returncode}
    for file in {file.name for file in files} | {told["file"] for told in diagnostics}:
        of_file = [told for told in diagnostics if told["file"] == file]
        yield (
            f"check {folder}/{file}",
            {
                "codes": sorted(f"{told['code']} {told['severity']}" for told in of_file),
                "texts": {
                    "messages": sorted(steady(f"{told.get('line')}: {told['message']}", copy) for told in of_file)
                },
            },
        )


def read_aliases(path: Path) -> dict[str, str]:
    """Return new codes by old ones: a line for each, the old one first."""
    lines = (line.partition("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return {words[0]: words[-1] for words in lines if words}


def rename_codes(text: str, aliases: Mapping[str, str]) -> str:
    """Return a record's text with new codes in the place of old ones, wherever they stand."""
    return re.sub(r"\bPPF\d{3}\b", lambda code: aliases.get(code[0], code[0]), text)


def differences(before: Record, now: Record, *, texts: bool) -> list[str]:
    """Return what differs, a line each: the place in the record, and both values."""
    return list(_differences("", before, now, texts))


def _differences(place: str, before: Any, now: Any, texts: bool) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            if key != "texts" or texts:
                yield from _differences(f"{place}/{key}" if place else key, before.get(key), now.get(key), texts)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        if place.endswith("/codes"):
            before, now = sorted(before), sorted(now)
        for number, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from _differences(f"{place}[{number}]", old, new, texts)
    elif not _same(before, now):
        yield f"{place}: {str(before)[:200]} -> {str(now)[:200]}"


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, float) and isinstance(now, int | float):
        return math.isclose(before, now, rel_tol=CLOSE, abs_tol=1e-12)
    return bool(before == now) and isinstance(before, bool) == isinstance(now, bool)


def summary(found: Record) -> str:
    """Return how many runs came to which verdict, and how many ended with which status."""
    runs = [came for what, came in found.items() if not what.startswith("check ")]
    verdicts = Counter(came.get("verdict", "no verdict") for came in runs if "verdict" in came or came["status"])
    statuses = Counter(came["status"] for came in runs)
    told = [f"{count} {verdict}" for verdict, count in sorted(verdicts.items())]
    return f"{len(runs)} runs: {', '.join(told)}; exit status " + ", ".join(
        f"{status}: {count}" for status, count in sorted(statuses.items())
    )


def main() -> int:
    """Write a record, or compare with one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout whose product runs, else this one")
    parser.add_argument("--only", default="", help="run only policies whose path has this text in it, and check none")
    parser.add_argument("--aliases", type=Path, help="old and new codes, a pair a line, for the earlier record")
    parser.add_argument("--texts", action="store_true", help="compare messages and sentences as well")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path)
    what.add_argument("--compare", type=Path)
    chosen = parser.parse_args()
    now = json.loads(json.dumps(record(chosen.tree.resolve(), chosen.only)))
    print(summary(now))
    if chosen.write:
        chosen.write.write_text(json.dumps(now, indent=1, sort_keys=True, ensure_ascii=False), encoding="utf-8")
        return 0
    aliases = read_aliases(chosen.aliases) if chosen.aliases else {}
    before = json.loads(rename_codes(chosen.compare.read_text(encoding="utf-8"), aliases))
    if chosen.only:
        before = {what: came for what, came in before.items() if what in now}
    found = differences(before, now, texts=chosen.texts)
    print("\n".join([*found[:SHOWN], f"{len(now)} compared, {len(found)} differences"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
