"""What attacks on classes look at: every sensitive released column, and people of whom something is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ppdm_flow.audits.inference.holdings import Holdings, holdings
from ppdm_flow.audits.inference.knowledge import Target
from ppdm_flow.audits.inference.secrets import Secrets
from ppdm_flow.audits.inference.targets import Inference, infer
from ppdm_flow.audits.inference.truthful import truthful
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class Examined:
    """``held``: the classes' values, by sensitive column; ``true``: whether its cells are people's own values.

    ``told`` is what the release tells of the targets.
    """

    held: Mapping[str, Holdings]
    true: Mapping[str, bool]
    told: Sequence[Inference]

    @property
    def sound(self) -> Mapping[str, Holdings]:
        """The columns from which something true can be concluded."""
        return {s: h for s, h in self.held.items() if self.true[s]}

    @property
    def sure(self) -> list[Inference]:
        """What is told from such columns."""
        return [i for i in self.told if self.true[i.secret]]

    def figures(self) -> dict[str, Figure]:
        """Return the figures on the targets."""
        return {name: figure for inference in self.told for name, figure in inference.figures().items()}


def examined(of: Secrets, targets: Mapping[str, Target], candidate: DataView, ctx: AuditContext) -> Examined:
    """Look at every sensitive column, beside the columns that tell people apart."""
    return Examined(
        {s: holdings(candidate, of.beside(s), s) for s in of.secrets},
        {s: truthful((*of.beside(s), s), ctx) for s in of.secrets},
        [i for s in of.secrets for i in infer(targets, of.beside(s), s, candidate, ctx)],
    )
