"""What guests are shown: releases of runs that were released, with their public report or without; and taken back."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import STEWARDS, changes, reads
from ppdm_flow.page.looks.addresses import shown_address
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.shown import MOST, PublishedRun, Refusal
from ppdm_flow.page.services.tables.shown_tables import copy_shown, keep_shown


def list_shown(call: Call) -> Response:
    """List what guests may read, and the newest released runs."""
    every = call.site.shown.releases()
    runs = {(each.policy, each.run) for each in every}
    others = [run for run in call.site.shown.newest() if (run.folder.parent.name, run.folder.name) not in runs]
    return call.page("shown/list.html", every=every, others=others)


def show_run(call: Call) -> Response:
    """Show the releases of one run, each with what guests may read of it."""
    there = _published(call)
    policy, run = call.path["policy"], call.path["run"]
    shown = call.site.shown.releases()
    own = {each.release: each for each in shown if (each.policy, each.run) == (policy, run)}
    beside = [each for each in shown if each.policy == policy and each.run != run]
    return call.page("shown/run.html", policy=policy, run=run, there=there, own=own, beside=beside)


def show(call: Call) -> Response:
    """Show a release to guests."""
    _published(call)
    policy, run, release = (call.path[part] for part in _NAMES)
    refusal = call.site.shown.show(call.user, policy, run, release, report=call.text("report") == "yes")
    if refusal is Refusal.APART:
        raise RefusalError("shown.apart")
    if refusal is Refusal.MANY:
        raise RefusalError("shown.too_many", 429, most=MOST)
    if refusal is not None:
        raise HTTPException(404)
    shown = call.site.shown.get(policy, run, release)
    if shown is not None:
        copy_shown(call.site.tables, shown)
    call.noted.subject = f"{policy}/{run}/{release}"
    return call.go(shown_address(f"{policy}/{run}"), said="shown.done")


def hide(call: Call) -> Response:
    """Take a release back."""
    policy, run, release = (call.path[part] for part in _NAMES)
    if not call.site.shown.hide(policy, run, release):
        raise HTTPException(404)
    keep_shown(call.site.tables, call.site.shown.releases())
    call.noted.subject = f"{policy}/{run}/{release}"
    return call.go("/shown", said="shown.taken_back")


def _published(call: Call) -> PublishedRun:
    there = call.site.shown.published(call.path["policy"], call.path["run"])
    if there is None:
        raise HTTPException(404)
    return there


_NAMES = ("policy", "run", "release")
_RELEASE = "/shown/{policy}/{run}/{release}"
ROUTES = (
    reads("/shown", list_shown, STEWARDS),
    reads("/shown/{policy}/{run}", show_run, STEWARDS),
    changes(f"{_RELEASE}/show", show, STEWARDS, "shown.show", "run"),
    changes(f"{_RELEASE}/hide", hide, STEWARDS, "shown.hide", "run"),
)
