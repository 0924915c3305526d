"""The list of runs."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.runs.runs import WITHHELD

_EACH = 50
STATES = (RELEASED, HELD, WITHHELD)


def list_runs(call: Call) -> Response:
    """Show the runs, newest first, of one policy or state where that is asked for."""
    runs = call.site.runs.list()
    policy, state = call.query.get("policy", ""), call.query.get("state", "")
    chosen = [run for run in runs if policy in {"", run.policy} and state in {"", run.state}]
    pages = max(1, -(-len(chosen) // _EACH))
    page = min(_page(call.query.get("page", "")), pages)
    shown = chosen[(page - 1) * _EACH : page * _EACH]
    makers = {run.key: job.author for run in shown if (job := call.site.jobs.maker(run.key)) is not None}
    return call.page(
        "runs/list.html",
        runs=shown,
        many=len(chosen),
        page=page,
        pages=pages,
        policies=sorted({run.policy for run in runs}),
        states=STATES,
        policy=policy,
        state=state,
        makers=makers,
    )


def _page(word: str) -> int:
    return int(word) if word.isascii() and word.isdecimal() and 0 < len(word) < 7 and int(word) else 1
