"""What a bound costs: a sweep over some values of it on the whole table, as a job beside the page that shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.core.amounts import duration
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.http.call import Call, known_policy, runnable_policy
from ppdm_flow.page.http.route import STEWARDS, changes, reads
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.jobs.job import JobState, VerbJob
from ppdm_flow.page.services.jobs.jobs import OWN_FOLDER
from ppdm_flow.page.services.policies.checks import check_text
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import REPORTS
from ppdm_flow.page.services.uploads.uploads import Upload
from ppdm_flow.page.views.runs.changes import version_at
from ppdm_flow.page.views.runs.data import data_choice
from ppdm_flow.page.views.runs.routes import (
    ShownSweep,
    chosen_upload,
    cost_figures,
    files_looked_at,
    shown_sweep,
    sweepable,
)
from ppdm_flow.policy.edit.changes import put
from ppdm_flow.policy.edit.edited import edited
from ppdm_flow.policy.language import kinds
from ppdm_flow.policy.language.kind_pages import entry_of

_ONE = "/policies/{policy:path}/costs"
_AROUND = 3
"""Values below the bound that holds now, and above it: seven points with it."""
_WHOLE = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_JOBS = 60
_POINTS = re.compile(r"^(\d+) of (\d+): ", re.MULTILINE)
"""How a sweep says which point it has measured."""


@dataclass(frozen=True, slots=True)
class BoundCost:
    """A bound of a policy, and what is known of its cost.

    ``place`` is where it stands and ``now`` its value; ``values`` are those at which it is measured. ``job`` measures
    it, or has done so for the policy and the table of today; ``left`` is the time until its figures are there, in
    words, and ``done`` of ``many`` points are measured. ``measured`` are the figures, none before all are there.
    """

    place: str
    now: str
    meaning: str
    values: tuple[str, ...] = ()
    job: VerbJob | None = None
    done: int = 0
    left: str = ""
    measured: ShownSweep | None = None

    @property
    def kind(self) -> str:
        """The kind of requirement whose bound it is."""
        return self.place.split(".")[1]

    @property
    def name(self) -> str:
        """What the requirement is about, and its field."""
        return " ".join(self.place.split(".")[2:])

    @property
    def goes_on(self) -> bool:
        """Whether a job measures it."""
        return self.job is not None and not self.job.state.is_over


def show_costs(call: Call) -> Response:
    """Show the bounds of a policy with what each costs, as far as that was measured."""
    policy = known_policy(call)
    checked = call.site.checks.check(policy.name, policy.text)
    if not checked.valid:
        return call.go(policy_address(policy.name))
    data = data_choice(call, policy, checked)
    path = call.site.policies.path(policy.name)
    places = [(place, now) for place, now in CHECKS.run(sweepable, path) if place.startswith("privacy.")]
    jobs = [job for job in call.site.jobs.of(call.user, _JOBS) if _is_of(call, job, policy, data.chosen)]
    bounds = [
        _cost(path, policy, BoundCost(place, now, meaning_of(place.split(".")[1])), jobs) for place, now in places
    ]
    return call.page(
        "runs/part_costs.html" if call.replaces_part else "runs/costs.html",
        policy=policy,
        data=data,
        bounds=bounds,
        goes_on=any(bound.goes_on for bound in bounds),
    )


def start_cost(call: Call) -> Response:
    """Begin to measure what one bound costs. Raises HTTPException 404 where the policy has no such bound."""
    policy = runnable_policy(call)
    given, path = files_looked_at(call, policy), call.site.policies.path(policy.name)
    place = call.text("place")
    now = dict(CHECKS.run(sweepable, path)).get(place, "")
    if not place.startswith("privacy.") or not now:
        raise HTTPException(404)
    checks = call.site.checks
    about = (checks.policies.folder, policy.name, policy.text, checks.today(), checks.private)
    values = CHECKS.run(valid_values, about, place, nearby(now))
    if len(values) < 2:
        raise RefusalError("runs.cost_of_one")
    words = ["sweep", str(path), f"--over={place}={','.join(values)}"]
    figures = cost_figures(call, policy.name, checks.check(policy.name, policy.text))
    words += [f"--metrics={','.join(figures)}"] if figures else []
    data = chosen_upload(call)
    words += ["--data", str(data.path)] if data is not None else []
    words += ["--workers", "1", "--out", f"{OWN_FOLDER}/sweep"]
    address = policy_address(policy.name, "costs")
    call.site.jobs.add(call.user, words, kind="sweep", about=policy.name, leads_to=address, given=given)
    return call.go(address)


ROUTES = (reads(_ONE, show_costs, STEWARDS), changes(_ONE, start_cost, STEWARDS, "runs.cost", "policy"))


def nearby(now: str) -> tuple[str, ...]:
    """Return a bound with at most three usual values on each side.

    >>> nearby("5")
    ('2', '3', '4', '5', '7', '10', '15')
    """
    value = float(now)
    usual: Sequence[float] = _SHARES if 0 < value < 1 or now == "1.0" else _WHOLE
    below = [each for each in usual if each < value][-_AROUND:]
    above = [each for each in usual if each > value][:_AROUND]
    return (*(f"{each:g}" for each in below), now, *(f"{each:g}" for each in above))


def valid_values(about: tuple[Path, str, str, date, Path], place: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return the values with which a policy has no error: floors and other bounds may forbid some.

    ``about`` are the folder of policies, the policy's name and text, the day, and the server's private folder.
    """
    folder, name, text, today, private = about
    kept = []
    for value in values:
        try:
            changed = edited(text, (put(tuple(place.split(".")), value),), name)
        except PpdmError:
            continue
        if check_text(folder, name, changed, today, private).valid:
            kept.append(value)
    return tuple(kept)


def meaning_of(kind: str) -> str:
    """Return what a kind of requirement means; empty where its page cannot be read."""
    try:
        return entry_of(kinds.spec_of(kind))[0]
    except PpdmError:
        return ""


def _is_of(call: Call, job: VerbJob, policy: PolicyText, data: Upload | None) -> bool:
    """Whether a job has measured the policy as it is on the table that is chosen now."""
    if job.kind != "sweep" or job.about != policy.name:
        return False
    named = job.words[job.words.index("--data") + 1] if "--data" in job.words else None
    if named != (None if data is None else str(data.path)):
        return False
    written = datetime.fromtimestamp(call.site.policies.path(policy.name).stat().st_mtime, UTC)
    version = version_at(call.site, policy.name, job.queued)
    return written <= job.queued or (version is not None and version.digest == policy.digest)


def _cost(path: Path, policy: PolicyText, bound: BoundCost, jobs: Sequence[VerbJob]) -> BoundCost:
    """Return what the newest job says of a bound; jobs are newest first."""
    begin = f"--over={bound.place}="
    for job in jobs:
        over = [word for word in job.words if word.startswith("--over=")]
        if len(over) != 1 or not over[0].startswith(begin) or job.state is JobState.CANCELLED:
            continue
        bound = replace(bound, job=job, values=tuple(over[0].removeprefix(begin).split(",")))
        if not job.state.is_over:
            done, left = _left(job)
            return replace(bound, done=done, left=left)
        reports = sorted((job.folder / "sweep").glob("*/*/sweep.json"))
        if job.state is JobState.DONE and reports:
            back = policy_address(policy.name, "costs")
            return replace(bound, measured=REPORTS.run(shown_sweep, reports[-1], path, policy.name, back))
        return bound
    return replace(bound, values=nearby(bound.now))


def _left(job: VerbJob) -> tuple[int, str]:
    """Return how many points a running sweep has measured, and the time left in words; empty before the first."""
    measured = _POINTS.findall(job.talk)
    if not measured or job.started is None:
        return 0, ""
    done, many = map(int, measured[-1])
    seconds = (datetime.now(UTC) - job.started).total_seconds()
    return done, duration(max(1.0, seconds / done * (many - done)))
