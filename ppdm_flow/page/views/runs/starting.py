"""Beginning a run of a policy, and verifying one: both are jobs."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy, refuse_taken, runnable_policy
from ppdm_flow.page.http.runs import known_run
from ppdm_flow.page.http.signing import signing_as_author
from ppdm_flow.page.looks.addresses import run_address
from ppdm_flow.page.services.policies.given import GivenFiles, files_of
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.services.refusal import RefusalError


def run_form(call: Call) -> Response:
    """Show what a run may be begun with."""
    policy, uploads, own_key = known_policy(call), call.site.uploads.all_of(call.user), call.site.keys.of(call.user)
    seen = files_of(call.site.checks, policy).digest
    return call.page("runs/start.html", policy=policy, seen=seen, uploads=uploads, own_key=own_key)


def start_run(call: Call) -> Response:
    """Begin a run."""
    policy = runnable_policy(call)
    given = files_looked_at(call, policy)
    words = ["run", str(call.site.policies.path(policy.name)), "--out", str(call.site.settings.runs.absolute())]
    data = chosen_upload(call)
    words += ["--data", str(data)] if data is not None else []
    words += ["--strict"] if call.text("strict") else []
    signing = signing_as_author(call)
    words += signing.words if signing is not None else ()
    environment = signing.environment if signing is not None else {}
    job = call.site.jobs.add(call.user, words, kind="run", about=policy.name, environment=environment, given=given)
    return call.go(f"/jobs/{job.id}")


def files_looked_at(call: Call, policy: PolicyText) -> GivenFiles:
    """Return the files that a policy is made of.

    Raises RefusalError where they were others when the form was shown, or another policy has the same name.
    """
    given = files_of(call.site.checks, policy)
    if call.text("digest", given.digest) != given.digest:
        raise RefusalError("policies.changed_meanwhile")
    refuse_taken(call, policy.name, given.policy)
    return given


def start_verify(call: Call) -> Response:
    """Begin to verify a run, with the data where an upload is chosen."""
    run = known_run(call)
    words = ["verify", str(run.folder)]
    data = chosen_upload(call)
    words += ["--data", str(data)] if data is not None else []
    job = call.site.jobs.add(call.user, words, kind="verify", about=run.key, leads_to=run_address(run.key))
    return call.go(f"/jobs/{job.id}")


def chosen_upload(call: Call) -> Path | None:
    """Return the file of the upload that the form names; None where it names none. Others' uploads are none: 404."""
    name = call.text("upload")
    if not name:
        return None
    upload = call.site.uploads.of(call.user, name)
    if upload is None:
        raise HTTPException(404)
    return upload.path
