"""People with signing keys that they made on the page, a policy that asks for approvals, and its runs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sites import PASSWORD, PATIENCE, Browser, Server

from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.services.policies.given import GivenFiles

PASSPHRASE = "three brown horses waiting"
POLICY = """
version: 1
name: ward
source: {path: people.csv}
approvals: {roles: [data-owner], signers: signers.yaml}
attributes:
  patient: {role: identifier}
  zip: {role: quasi_identifier}
  age: {role: quasi_identifier}
  disease: {role: sensitive}
privacy: {k_anonymity: {k: 5}}
releases:
  public: {path: ward.csv, audience: public}
"""
ROLES: Mapping[str, Sequence[str]] = {"sue": ("author",), "olga": ("data-owner",), "omar": ("author", "data-owner")}
"""What the list of signers gives whom."""
ACCOUNTS: Mapping[str, Sequence[PageRole]] = {
    "sue": (PageRole.STEWARD,),
    "olga": (PageRole.APPROVER,),
    "omar": (PageRole.STEWARD, PageRole.APPROVER),
    "eve": (PageRole.STEWARD, PageRole.APPROVER),
}


@dataclass
class Ward:
    """A server with these people; ``eve`` has a key that no list of signers knows."""

    server: Server
    users: dict[str, User] = field(default_factory=dict)
    browsers: dict[str, Browser] = field(default_factory=dict)

    @classmethod
    def make(cls, server: Server) -> Ward:
        ward = cls(server)
        for name, roles in ACCOUNTS.items():
            ward.users[name] = server.site.accounts.add(name, roles, PASSWORD)
            ward.browsers[name] = Browser(server.site, ward.users[name])
            server.site.keys.make(ward.users[name], PASSPHRASE)
        for user in ward.users.values():
            ward.ended(user)
        ward.signers(ROLES)
        (ward.policies / "ward.yaml").write_text(POLICY)
        lines = [f"p{i},{'low' if i < 10 else 'high'},any,{('flu', 'cold', 'hiv', 'ulcer')[i % 4]}" for i in range(20)]
        (ward.policies / "people.csv").write_text("\n".join(["patient,zip,age,disease", *lines]) + "\n")
        return ward

    @property
    def policies(self) -> Path:
        return self.server.site.settings.policies

    @property
    def runs(self) -> Path:
        return self.server.site.settings.runs

    def signers(self, roles: Mapping[str, Sequence[str]]) -> None:
        lines = ["version: 1", "signers:"]
        for name, own in roles.items():
            public = self.server.site.keys.of(self.users[name]).public
            lines += [f"  {name}:", f"    roles: [{', '.join(own)}]", f"    key: {public.text}"]
        (self.policies / "signers.yaml").write_text("\n".join(lines) + "\n")

    def ended(self, user: User) -> VerbJob:
        """Wait for the newest job of somebody."""
        return self.server.site.jobs.finished(self.server.site.jobs.of(user)[0], PATIENCE)

    def run(self, name: str, *, sign: bool = True) -> str:
        """Have somebody run the policy, signed as its author, and return the run's name."""
        signing = self.server.site.keys.signing(self.users[name], PASSPHRASE) if sign else None
        words = ("run", str(self.policies / "ward.yaml"), "--out", str(self.runs), *(signing.words if signing else ()))
        environment = signing.environment if signing else {}
        self.server.site.jobs.add(
            self.users[name],
            words,
            kind="run",
            about="ward.yaml",
            environment=environment,
            given=GivenFiles(policy="ward"),
        )
        job = self.ended(self.users[name])
        assert job.exit_code == 4, job.talk
        return job.made

    def again(self, run: str, kept: Path) -> str:
        """Put a run back as it was when it was made, from its copy; the first time makes the copy."""
        if not kept.exists():
            shutil.copytree(self.runs / run, kept)
        shutil.rmtree(self.runs / run)
        shutil.copytree(kept, self.runs / run)
        return run
