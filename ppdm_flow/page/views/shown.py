"""What guests are shown: releases of runs, each to named guests, with the public report or without; and taken back."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import STEWARDS, changes, reads
from ppdm_flow.page.looks.addresses import shown_address
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.shown import MOST, SEE_RUNS, PublishedRun, Refusal
from ppdm_flow.page.services.tables.shown_tables import copy_shown, keep_shown
from ppdm_flow.page.views.guests import address


def list_shown(call: Call) -> Response:
    """List what guests may read, and the newest released runs."""
    every = call.site.shown.releases()
    runs = {(each.policy, each.run) for each in every}
    others = [run for run in call.site.shown.newest() if (run.folder.parent.name, run.folder.name) not in runs]
    accounts, names = _guests(call), {}
    for each in every:
        invited = call.site.shown.guests(each.policy, each.run, each.release)
        names[each] = [guest.name for guest in accounts if guest.id in invited]
    return call.page("shown/list.html", every=every, others=others, names=names)


def show_run(call: Call) -> Response:
    """Show the releases of one run, each with what guests may read of it."""
    there = _published(call)
    policy, run = call.path["policy"], call.path["run"]
    shown = call.site.shown.releases()
    own = {each.release: each for each in shown if (each.policy, each.run) == (policy, run)}
    beside = [each for each in shown if each.policy == policy and each.run != run]
    guests, site = _guests(call), call.site
    return call.page(
        "shown/run.html",
        policy=policy,
        run=run,
        there=there,
        own=own,
        beside=beside,
        guests=guests,
        invited={release: site.shown.guests(policy, run, release) for release in own},
        barred={release: site.shown.barred(there, release, guests) for release in there.audiences},
        links={release: f"{call.origin}{address(each)}" for release, each in own.items()},
    )


def show(call: Call) -> Response:
    """Show a release to the guests whom the form names, and to no others."""
    _published(call)
    policy, run, release = (call.path[part] for part in _NAMES)
    names, before = set(call.texts("guest")), call.site.shown.guests(policy, run, release)
    guests = [guest for guest in _guests(call) if str(guest.id) in names]
    if len(guests) < len(names):
        raise HTTPException(404)
    if not guests:
        raise RefusalError("shown.nobody")
    refusal = call.site.shown.show(call.user, policy, run, release, guests, report=call.text("report") == "yes")
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
    for guest in (each.user for each in call.site.accounts.every()):
        if (guest.id in before) != (guest in guests):
            action = "shown.invite" if guest in guests else "shown.uninvite"
            call.site.journal.add(call.user, action, f"{guest.name}: {call.noted.subject}", "done")
    return call.go(shown_address(f"{policy}/{run}"), said="shown.done")


def hide(call: Call) -> Response:
    """Take a release back."""
    policy, run, release = (call.path[part] for part in _NAMES)
    if not call.site.shown.hide(policy, run, release):
        raise HTTPException(404)
    keep_shown(call.site.tables, call.site.shown.releases())
    call.noted.subject = f"{policy}/{run}/{release}"
    return call.go("/shown", said="shown.taken_back")


def _guests(call: Call) -> list[User]:
    """Return who can be invited: guests who can sign in. Others see all runs, or no data at all."""
    accounts = (each for each in call.site.accounts.every() if not each.locked)
    return [each.user for each in accounts if each.user.has(PageRole.GUEST) and not each.user.has(*SEE_RUNS)]


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
