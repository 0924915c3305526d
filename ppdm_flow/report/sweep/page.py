"""A sweep as one HTML file that needs nothing else."""

from __future__ import annotations

from ppdm_flow.report.run.facts import facts
from ppdm_flow.report.run.html import environment, script_hash
from ppdm_flow.report.sweep.fields import SweepDocument
from ppdm_flow.report.sweep.picture import panels
from ppdm_flow.report.sweep.rows import rows, said


def render(document: SweepDocument) -> str:
    """Return the page of a sweep's document; the same document gives the same text."""
    template = environment().get_template("sweep.html.jinja")
    return template.render(
        policy=document["policy"],
        said=said(document),
        panels=panels(document),
        table=rows(document),
        run=facts(document["run"]),
        script_hash=script_hash(),
    )
