"""One run: the verdict first, then what was asked for and measured, then what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.runs import has_made, known_run
from ppdm_flow.page.looks.addresses import run_address
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.runs.runs import ListedRun, from_report
from ppdm_flow.page.views.runs.mending import offers
from ppdm_flow.page.views.runs.origins import policy_file
from ppdm_flow.report.run.fields import ReleaseFacts, ReportDocument, outputs
from ppdm_flow.report.run.verdict import PageVerdict, verdict


def show_run(call: Call) -> Response:
    """Show one run. Raises UsageError where its report cannot be read."""
    run = known_run(call)
    judged, findings, releases = from_report(run.folder, _shown)
    policy = policy_file(call.site, run)
    may_edit = policy is not None and call.user.has(PageRole.STEWARD)
    maker, sizes = call.site.jobs.maker(run.key), run.files()
    return call.page(
        "runs/run.html",
        run=run,
        verdict=judged,
        state=_state(run, judged),
        findings=findings,
        releases=releases,
        downloads={name: sizes[name] for name in run.downloads(for_maker=has_made(call, run))},
        policy=policy,
        steward=call.user.has(PageRole.STEWARD),
        offers=offers(call.site, policy, judged, run_address(run.key))
        if may_edit and policy and judged.failing
        else {},
        maker=maker.author if maker else "",
        uploads=call.site.uploads.all_of(call.user) if call.user.has(PageRole.STEWARD) else [],
        others=[each for each in call.site.runs.list() if each.policy == run.policy and each.key != run.key][:50],
    )


def _shown(document: ReportDocument) -> tuple[PageVerdict, Sequence[Mapping[str, Any]], tuple[ReleaseFacts, ...]]:
    return verdict(document), document["findings"], outputs(document)


def _state(run: ListedRun, judged: PageVerdict) -> str:
    """Return the state by the report itself: a manifest that says more than its checks bear out is not believed."""
    return run.state if judged.released else "withheld"
