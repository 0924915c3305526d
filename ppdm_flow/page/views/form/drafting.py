"""From an uploaded table to a first policy: a profile as a job, what it suggests as a form, the policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.jobs import known_job
from ppdm_flow.page.http.policies import refuse_reach
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.bounded import LARGE
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.services.policies.files import YAML, named_after
from ppdm_flow.page.services.policies.policies import UnusableNameError
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import REPORTS
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.page.views.form.contents import ROLES, TYPES, role_sentences
from ppdm_flow.report.profile import ProfileColumn, ProfileDocument, render

KIND = "profile"
HEADERS = {"guess": (), "yes": ("--header",), "no": ("--no-header",)}
WRITTEN = {
    "delimiter": (",", ";", "tab", "|", "space"),
    "encoding": ("utf-8", "cp1252", "latin-1", "utf-16"),
    "escape": ("none", "backslash"),
}
"""How a text file may be written, as options of `profile`; what is not said is found out."""


def choose(call: Call) -> Response:
    """Show what a table is to be looked at with."""
    return _choice(call, call.query.get("upload", ""))


def begin(call: Call) -> Response:
    """Have an uploaded table looked at."""
    upload = call.site.uploads.of(call.user, call.text("upload"))
    if upload is None or call.text("header") not in HEADERS:
        return _choice(call, "", "form.choose_table")
    words = ["profile", str(upload.path), "--format", "json", *HEADERS[call.text("header")]]
    for option, choices in WRITTEN.items():
        if call.text(option) in choices:
            words += [f"--{option}", call.text(option)]
    job = call.site.jobs.add(call.user, words, kind=KIND, about=upload.name, leads_to="/form/draft/{job}")
    return call.go(f"/jobs/{job.id}")


def show_draft(call: Call) -> Response:
    """Show what a profile found, with a role and a type for each column to agree to or change."""
    job, profile = _profile(call)
    return _draft(call, job, profile, "", "")


def make(call: Call) -> Response:
    """Make the policy that a profile suggests, with the roles and types that were chosen, and open its form."""
    job, profile = _profile(call)
    name = call.text("name").strip()
    name = name if name.endswith(YAML) else f"{name}.yaml"
    text = named_after(render(_chosen(call, profile), profile["file"]), name)
    if len(text.encode()) > call.site.settings.policy_bytes:  # the names of columns may be of any length
        raise RefusalError("form.long_policy", 413)
    try:
        call.site.policies.check_new(name)
        refuse_reach(call, name, text)
        call.site.policies.create(name, text, call.user)
    except UnusableNameError:
        return _draft(call, job, profile, name, "policies.name_unusable")
    except FileExistsError:
        return _draft(call, job, profile, name, "policies.name_taken")
    call.noted.subject = name
    return call.go(policy_address(name, "form"), said="policies.created")


def _choice(call: Call, chosen: str, wrong: str = "") -> Response:
    uploads = call.site.uploads.all_of(call.user)
    return call.page("form/new.html", 422 if wrong else 200, uploads=uploads, chosen=chosen, wrong=wrong)


def _draft(call: Call, job: VerbJob, profile: ProfileDocument, name: str, wrong: str) -> Response:
    return call.page(
        "form/draft.html",
        422 if wrong else 200,
        job=job,
        profile=profile,
        name=name,
        wrong=wrong,
        chosen=_chosen(call, profile)["columns"],
        roles=role_sentences(),
        types=TYPES,
    )


def _profile(call: Call) -> tuple[VerbJob, ProfileDocument]:
    """Return what a profile printed, under the name that the table was uploaded with. Raises HTTPException 404."""
    job = known_job(call)
    if job.kind != KIND or job.exit_code != 0 or not job.stdout.is_file():
        raise HTTPException(404)
    is_long = job.stdout.stat().st_size > LARGE
    document = REPORTS.run(read_profile, job.stdout) if is_long else read_profile(job.stdout)
    return job, cast("ProfileDocument", {**document, "file": job.about})


def read_profile(file: Path) -> dict[str, Any]:
    """Return the document that a profile printed."""
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def _chosen(call: Call, profile: ProfileDocument) -> ProfileDocument:
    """Return a profile with the roles and types that a form chose."""
    columns = [
        _column(column, call.text(f"role-{number}"), call.text(f"type-{number}"))
        for number, column in enumerate(profile["columns"])
    ]
    return cast("ProfileDocument", {**profile, "columns": columns})


def _column(column: ProfileColumn, role: str, kind: str) -> ProfileColumn:
    """Return a column with another role or type; what was guessed for the old ones goes."""
    if role in ROLES and role != column["role"]:
        reason = catalogue()("form.chosen_role", reason=column["reason"], role=column["role"])
        column = {**column, "role": role, "reason": reason, "hierarchy": None}
    if kind in TYPES and kind != column["type"]:
        column = {**column, "type": kind, "hierarchy": None, "date_format": None}
    return column
