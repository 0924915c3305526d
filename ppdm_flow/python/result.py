"""What came of a run, for programs and notebooks: verdict, requirements, figures, tables, and the report."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ppdm_flow.api.run import RunResult
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.python.released import released_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Result:
    """A finished run. ``warnings`` are what the policy was warned about; ``run_dir`` has everything that is here."""

    run: RunResult

    @property
    def verdict(self) -> str:
        """``released``, ``withheld``, or ``held`` where people have to approve it first."""
        return self.run.verdict

    @property
    def released(self) -> bool:
        """Whether everything held, and nobody has to approve it."""
        return self.run.released

    @property
    def held(self) -> bool:
        """Whether everything held, and the release waits for approvals (``ppdm-flow release``)."""
        return self.run.held

    @property
    def run_dir(self) -> Path:
        """The run's directory."""
        return self.run.run_dir

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the policy was warned about."""
        return self.run.diagnostics

    @property
    def report(self) -> Mapping[str, Any]:
        """The whole report, as ``report.json`` has it."""
        return self.run.document

    @property
    def requirements(self) -> list[Mapping[str, Any]]:
        """Each requirement on each release: id, release, measured, bound, whether it holds, and a sentence."""
        return list(self.run.document["requirements"])

    @property
    def figures(self) -> dict[str, float | int | None]:
        """Every measured figure by its name; None for one that is not measured."""
        return {name: figure["value"] for name, figure in self.run.document["metrics"].items()}

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """The released tables by release, as they were released: nothing of a run that was withheld or is held."""
        if not self.released:
            return {}
        planned = {release["name"]: release for release in self.run.document["plan"]["releases"]}
        every = self.run.document["releases"]
        return {name: released_table(self.run_dir, about, planned[name]) for name, about in every.items()}

    def table(self, release: str | None = None) -> pa.Table:
        """Return a released table; of a policy with one release it need not be named. Raises UsageError."""
        names = list(self.tables)
        if release is None and len(names) == 1:
            return self.tables[names[0]]
        if isinstance(release, str) and release in self.tables:
            return self.tables[release]
        known = ", ".join(f"`{name}`" for name in names) or f"nothing, it {'is' if self.held else 'was'} {self.verdict}"
        raise UsageError(Diagnostic("PPF694", f"say which release is meant: the run released {known}"))

    def to_pandas(self, release: str | None = None) -> pd.DataFrame:
        """Return a released table as a pandas data frame. Raises UsageError as :meth:`table`."""
        frame: pd.DataFrame = self.table(release).to_pandas()
        return frame

    def _repr_html_(self) -> str:
        """Return the report for a notebook, in a frame of its own in which no script runs."""
        page = html.escape((self.run_dir / "report.html").read_text(encoding="utf-8"), quote=True)
        return f'<iframe sandbox="" srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        """Return the verdict and where the report is."""
        return f"<{self.verdict}: {self.run_dir}>"
