"""Runs: begun from a policy, listed, read, compared, verified; sweeps."""

from __future__ import annotations

from ppdm_flow.page.http.access import STEWARDS, STEWARDS_AND_APPROVERS
from ppdm_flow.page.http.route import ANY_FIELD, changes, reads
from ppdm_flow.page.views.runs.comparing import compare_runs
from ppdm_flow.page.views.runs.documents import send_file, send_framed_report, show_report
from ppdm_flow.page.views.runs.listing import list_runs
from ppdm_flow.page.views.runs.showing import show_run
from ppdm_flow.page.views.runs.starting import run_form, start_run, start_verify
from ppdm_flow.page.views.runs.sweeping import show_sweep, start_sweep, sweep_form

ROUTES = (
    reads("/runs", list_runs, STEWARDS_AND_APPROVERS),
    reads("/runs/compare", compare_runs, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}", show_run, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}/report", show_report, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}/report.html", send_framed_report, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}/files/{file:path}", send_file, STEWARDS_AND_APPROVERS),
    changes("/runs/{policy}/{run}/verify", start_verify, STEWARDS_AND_APPROVERS, "runs.verify", "run"),
    reads("/policies/{policy:path}/run", run_form, STEWARDS),
    changes("/policies/{policy:path}/run", start_run, STEWARDS, "runs.start", "policy"),
    reads("/policies/{policy:path}/sweep", sweep_form, STEWARDS),
    changes(
        "/policies/{policy:path}/sweep", start_sweep, STEWARDS, "runs.sweep", "policy", long_fields={ANY_FIELD: 10_000}
    ),
    reads("/sweeps/{job}", show_sweep, STEWARDS),
)
