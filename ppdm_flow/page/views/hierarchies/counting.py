"""What the verb does for the pages of hierarchies: counting the values of an upload's column, checking a file."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.hierarchies.declared import hierarchy_name
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.views.hierarchies.asked import HierarchyForm, asked

_REFRESH = {"HX-Refresh": "true"}


def count_values(call: Call) -> Response:
    """Have the values of a column counted."""
    about = asked(call)
    page = call.text("page") if call.text("page") in ("groups", "rules") else "intervals"
    words = [*_words(call, about), "--counts", "-o", str(about.workplace.counts)]
    job = _added(call, about, words, page)
    about.workplace.counting(job.id)
    return call.go(about.place(page), **about.query)


def check_file(call: Call) -> Response:
    """Have the hierarchy file that the policy names held against an upload."""
    about = asked(call)
    name = hierarchy_name(call.site.policies, about.policy.name, about.attribute)
    if name is None:
        raise HTTPException(404)
    words = [*_words(call, about), f"--check={call.site.policies.path(name)}"]
    delimiter = about.attribute.text("delimiter")
    job = _added(call, about, [*words, f"--delimiter={delimiter}"] if delimiter else words, "groups")
    return call.go(f"/jobs/{job.id}")


def show_counting(call: Call) -> Response:
    """Say how the count goes on; the page is loaded again once it is over."""
    about = asked(call)
    counting = counting_of(call, about)
    response = call.page("hierarchies/counting.html", about=about, counting=counting)
    if counting is None or counting.state.is_over:
        response.headers.update(_REFRESH)
    return response


def counting_of(call: Call, about: HierarchyForm) -> VerbJob | None:
    """Return the job that counts, or did; None where there was none."""
    try:
        job = call.site.jobs.get(about.workplace.job_id) if about.upload is not None else None
    except LookupError:
        return None
    return job if job is not None and job.account == call.user.id else None


def _words(call: Call, about: HierarchyForm) -> list[str]:
    """Return the verb with the column that it is about. Raises HTTPException 404 where there is no upload."""
    if about.upload is None:
        raise HTTPException(404)
    words = ["hierarchy", str(about.upload.path), f"--attribute={about.attribute.column}"]
    if _can_be_read_by(call, about):
        words.append(f"--policy={call.site.policies.path(about.policy.name)}")
    return words


def _added(call: Call, about: HierarchyForm, words: list[str], page: str) -> VerbJob:
    policy = about.policy.name
    return call.site.jobs.add(call.user, words, kind="hierarchy", about=policy, leads_to=about.address(page))


def _can_be_read_by(call: Call, about: HierarchyForm) -> bool:
    """Whether the policy can say how the data are read: it has no errors, and one table."""
    return not about.attribute.table and call.site.checks.check(about.policy.name, about.policy.text).valid
