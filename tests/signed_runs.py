"""Small runs to be signed, and keys that are always the same: what tests and the campaign of evidence share."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from ppdm_flow import api
from ppdm_flow.evidence.keys import SigningKey
from ppdm_flow.evidence.signers import Signer, Signers

BEGIN = """
version: 1
name: clinic
source: {path: clinic.csv}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 40, 80, 120]}}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy: {k_anonymity: {k: 3}}
steps:
  recoded: {use: full_domain_recoding}
releases:
"""
"""A policy as far as its releases: what each test asks for of them follows."""
POLICY = f"""{BEGIN}\
  study: {{path: study.csv, from: recoded}}
  office: {{path: office.csv, from: recoded, audience: partner}}
recipients: apart
randomness: {{mode: reproducible, seed: 7}}
"""


def key(name: str) -> SigningKey:
    """Return the key of a name."""
    return SigningKey.from_seed(hashlib.sha256(name.encode()).digest())


def signer(name: str, *roles: str, **more: object) -> Signer:
    """Return a signer with the key of that name."""
    return Signer(name, frozenset(roles), key(name).public, **more)  # type: ignore[arg-type]


def signers(*every: Signer) -> Signers:
    """Return a list of signers."""
    return Signers(every)


def written(every: Iterable[Signer]) -> str:
    """Return the text of a list of signers."""
    lines = ["version: 1", "signers:"]
    for each in every:
        lines += [f"  {each.name}:", f"    roles: [{', '.join(sorted(each.roles))}]", f"    key: {each.key.text}"]
        lines += [f"    from: {each.first}"] if each.first else []
        lines += [f"    until: {each.last}"] if each.last else []
        lines += [f"    revoked: {{on: {each.revoked.on}, reason: {each.revoked.reason}}}"] if each.revoked else []
    return "\n".join(lines) + "\n"


def small_run(folder: Path, policy: str = POLICY, rows: int = 60) -> Path:
    """Run a policy on made-up rows, and return the run's directory."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(5)
    lines = ["patient,age,town,illness"]
    for number in range(rows):
        town, illness = draw.choice(["north", "south"]), draw.choice(["flu", "cold", "none"])
        lines.append(f"p{number:03},{draw.randrange(18, 90)},{town},{illness}")
    (folder / "clinic.csv").write_text("\n".join(lines) + "\n")
    (folder / "policy.yaml").write_text(policy)
    result = api.run(folder / "policy.yaml", out=folder / "runs")
    assert result.released, result.document["requirements"]
    return result.run_dir


def copied(run: Path, folder: Path) -> Path:
    """Return a copy of a run that may be changed."""
    place = folder / run.parent.name / run.name
    shutil.copytree(run, place)
    return place


def now() -> datetime:
    """Return the time, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)
