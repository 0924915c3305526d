"""Policies that ask for approvals, people with keys, and runs that are held: for tests and campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ppdm_flow import api
from ppdm_flow.api.release import HeldReleaseResult
from ppdm_flow.api.run import RunResult
from ppdm_flow.engine.evidence.signing import sign_run
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.evidence.key_files import write_key_pair
from ppdm_flow.evidence.keys import SigningKey

POLICY = """
version: 1
name: ward
source: {path: people.csv}
LEDGER
approvals: {roles: [data-owner, privacy-officer], signers: signers.yaml}
attributes:
  patient: {role: identifier}
  zip: {role: quasi_identifier}
  age: {role: quasi_identifier}
  disease: {role: sensitive}
privacy: {k_anonymity: {k: 5}}
releases:
  public: {path: ward.csv, audience: public}
"""
PEOPLE = {
    "ana": ("author",),
    "olga": ("data-owner", "privacy-officer"),
    "pia": ("privacy-officer",),
    "omar": ("data-owner", "author"),
}
BOTH = (("olga", "data-owner"), ("pia", "privacy-officer"))
DISEASES = ("flu", "cold", "hiv", "ulcer")


@dataclass
class HeldHome:
    """A folder with a policy, data, a list of signers and their keys."""

    folder: Path
    ledger: str = ""
    keys: dict[str, SigningKey] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path, *, ledger: bool = True, policy: str = POLICY, place: str | None = None) -> HeldHome:
        folder.mkdir(parents=True, exist_ok=True)
        home = cls(folder)
        for name in PEOPLE:
            home.keys[name] = SigningKey.generate()
            write_key_pair(folder / f"{name}.key", home.keys[name])
        home.signers()
        words = ""
        if ledger:
            home.ledger = place or str(folder / "releases.ledger")
            api.create_ledger(home.ledger, folder / "releases.key")
            where = f"url: '{place}'" if place else "path: releases.ledger"
            words = f"ledger: {{{where}, key: releases.key, subject: patient}}"
        home.words = words
        home.policy(policy)
        home.data(range(20))
        return home

    words: str = ""

    def policy(self, text: str = POLICY, name: str = "policy.yaml") -> Path:
        path = self.folder / name
        path.write_text(text.replace("LEDGER", self.words))
        return path

    def data(self, people: Iterable[int], split: int = 10, by: str = "zip", name: str = "people.csv") -> Path:
        """Two classes: those with a number below ``split``, and the others, told apart ``by`` one column."""
        lines = ["patient,zip,age,disease"]
        for i in people:
            side = "low" if i < split else "high"
            zip_, age = (side if by == column else "any" for column in ("zip", "age"))
            lines.append(f"p{i},{zip_},{age},{DISEASES[i % 4]}")
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path

    def signers(self, people: Mapping[str, tuple[str, ...]] = PEOPLE, extra: Mapping[str, str] = {}) -> Path:
        """Write the list; ``extra`` are further lines by name."""
        lines = ["version: 1", "signers:"]
        for name, roles in people.items():
            lines += [f"  {name}:", f"    roles: [{', '.join(roles)}]", f"    key: {self.keys[name].public.text}"]
            lines += [f"    {extra[name]}"] if name in extra else []
        path = self.folder / "signers.yaml"
        path.write_text("\n".join(lines) + "\n")
        return path

    def run(self, sign: str | None = "ana", policy: str = "policy.yaml", **words: Any) -> RunResult:
        key = None if sign is None else self.folder / f"{sign}.key"
        return api.run(self.folder / policy, out=self.folder / "runs", sign=key, workers=1, **words)

    def sign(self, run: Path, who: str, role: str, later: int = 0) -> None:
        sign_run(run, self.keys[who], role, utc_now() + timedelta(seconds=later))

    def approve(self, run: Path, later: int = 0, by: Iterable[tuple[str, str]] = BOTH) -> None:
        for who, role in by:
            self.sign(run, who, role, later)

    def release(self, run: Path, later: int = 0, **words: Any) -> HeldReleaseResult:
        def now() -> datetime:
            return utc_now() + timedelta(seconds=later)

        return api.release(run, now=now, **words)

    def runs(self) -> list[Path]:
        return [p for p in (self.folder / "runs").glob("*/*") if p.is_dir()]

    def look(self, *, repair: bool = False) -> Any:
        return api.ledger(self.ledger, self.folder / "releases.key", repair=repair)


def files(run: Path) -> dict[str, bytes]:
    """All files of a run by path."""
    return {p.relative_to(run).as_posix(): p.read_bytes() for p in sorted(run.rglob("*")) if p.is_file()}
