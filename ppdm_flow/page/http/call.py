"""One request, as the features of the page see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from ppdm_flow.api.loading.kinds import FileKind
from ppdm_flow.page.looks.templates import LongPageError, rendered
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.services.keys import SigningAccess
from ppdm_flow.page.services.policies.policies import YAML, PolicyText, UnknownPolicyError
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import ListedRun, UnknownRunError
from ppdm_flow.page.services.uploads.arriving import ArrivingFile
from ppdm_flow.page.site import Site

_LONGEST = 30_000
"""Characters of an address: the server takes heads of 32 KB."""


@dataclass(slots=True)
class JournalNote:
    """Who acted and on what, where the route and the session do not say it: a name that a form had, a sign-in.

    Only what the server knows goes here (an account or a policy that there is), never what somebody typed.
    """

    subject: str | None = None
    user: User | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked for, by whom, with which form.

    ``arrived`` is the file among its fields, where the route takes one: gone after the answer, unless it was kept.
    """

    site: Site
    request: Request
    visit: Visit
    form: FormData
    arrived: ArrivingFile | None = None
    noted: JournalNote = field(default_factory=JournalNote)

    @property
    def path(self) -> Mapping[str, str]:
        """The parts of the address that its route names: text that anybody may have written."""
        return self.request.path_params

    @property
    def query(self) -> Mapping[str, str]:
        """What follows the question mark of the address; of a name given twice, the last."""
        return self.request.query_params

    @property
    def user(self) -> User:
        """Who is signed in. Routes that are not public have somebody."""
        if self.visit.user is None:
            raise LookupError("nobody is signed in: the route is public")
        return self.visit.user

    @property
    def replaces_part(self) -> bool:
        """Whether a script of the page asks for a part of it."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def origin(self) -> str:
        """Scheme, host and port at which the browser reached the page: how links begin that people send each other."""
        scheme = "https" if self.site.settings.secure else self.request.url.scheme
        return f"{scheme}://{self.request.url.netloc}"

    def text(self, field: str, default: str = "") -> str:
        """Return a field of the form as text; files are none."""
        value = self.form.get(field, default)
        return value if isinstance(value, str) else default

    def texts(self, field: str) -> list[str]:
        """Return all values of a field that may occur several times."""
        return [value for value in self.form.getlist(field) if isinstance(value, str)]

    def page(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """Answer with a page. ``user``, ``form_token``, ``here`` (its path) and ``said`` are always there.

        Raises RefusalError where it would be too long.
        """
        said = self.query.get("said", "")
        try:
            html = rendered(
                template,
                user=self.visit.user,
                form_token=self.visit.form_token,
                here=self.request.url.path,
                said=said,
                **values,
            )
        except LongPageError:
            raise RefusalError("errors.long_page", 413) from None
        return HTMLResponse(html, status)

    def go(self, address: str, said: str = "", **query: str) -> RedirectResponse:
        """Answer a form by sending the browser to a page; ``said`` is the key of a text that it shows once.

        Raises RefusalError where the server would not take the address.
        """
        words = urlencode({**query, **({"said": said} if said else {})})
        location = f"{address}?{words}" if words else address
        if len(location) > _LONGEST:
            raise RefusalError("errors.long_address", 413)
        return RedirectResponse(location, 303)


# The policy that an address names.


def known_policy(call: Call) -> PolicyText:
    """Return the YAML file that ``{policy:path}`` of an address names. Raises HTTPException 404 where there is none.

    Tables beside policies have no pages: a hierarchy is shown by its attribute, and others are data.
    """
    name = call.path["policy"]
    if not name.endswith(YAML):
        raise HTTPException(404)
    try:
        return call.site.policies.read(name)
    except UnknownPolicyError:
        raise HTTPException(404) from None


def runnable_policy(call: Call) -> PolicyText:
    """Return the file that an address names, for a verb that runs it.

    Raises HTTPException 404 where there is none, RefusalError where it names files of the server's private folder, or
    does not load as a policy: then nobody knows what it names.
    """
    policy = known_policy(call)
    reach = call.site.checks.reach(policy.name, policy.text)
    if reach.private:
        raise RefusalError("policies.reaches_private", 403)
    if not reach.resolved:
        raise RefusalError("policies.is_no_policy", 409)
    return policy


def testable_policy(call: Call) -> PolicyText:
    """Return the file of policy tests that an address names. Raises as ``runnable_policy``."""
    tests = known_policy(call)
    reach = call.site.checks.reach(tests.name, tests.text)
    if reach.private:
        raise RefusalError("policies.reaches_private", 403)
    if reach.kind is not FileKind.TESTS:
        raise RefusalError("policies.are_no_tests", 409)
    return tests


def refuse_reach(call: Call, file: str, text: str, *, before: PolicyText | None = None) -> None:
    """Raise RefusalError where a text may not be written to a file, because it reaches what belongs to others.

    That is a file of the server's private folder, or the runs and tables of another policy, which has the same name.
    ``before`` is the file whose place it takes: one that shares its name already can be written to and renamed.
    """
    if not file.endswith(YAML):
        return
    reach = call.site.checks.reach(file, text)
    if reach.private:
        raise RefusalError("policies.reaches_private", 403)
    had = None if before is None else call.site.policies.identity(before.name).name
    if reach.policy is not None and reach.policy != had:
        refuse_taken(call, file if before is None else before.name, reach.policy)


def refuse_taken(call: Call, file: str, name: str) -> None:
    """Raise RefusalError where another file is the policy of a name: by its text, or by a template and its runs."""
    names, ran = call.site.policies.named(), call.site.jobs.files_run_as(name)
    others = {other for other, own in names.items() if own == name or (own is None and other in ran)} - {file}
    if others:
        raise RefusalError("policies.name_of_another", name=name, file=min(others))


# The run that an address names.


def known_run(call: Call) -> ListedRun:
    """Return the run that ``{policy}/{run}`` of an address name. Raises HTTPException 404 where there is none."""
    try:
        return call.site.runs.get(call.path["policy"], call.path["run"])
    except UnknownRunError:
        raise HTTPException(404) from None


def run_called(call: Call, key: str) -> ListedRun:
    """Return the run of a key, ``policy/run``, that a form or an address has sent. Raises HTTPException 404."""
    policy, _, name = key.partition("/")
    try:
        return call.site.runs.get(policy, name)
    except UnknownRunError:
        raise HTTPException(404) from None


def has_made(call: Call, run: ListedRun) -> bool:
    """Whether who asks had the run made, and so has the data that it was made of."""
    job = call.site.jobs.maker(run.key)
    return job is not None and job.account == call.user.id


def known_job(call: Call) -> VerbJob:
    """Return the job that ``{job}`` of an address names. Raises HTTPException 404, also for the jobs of others."""
    try:
        job = call.site.jobs.get(call.path["job"])
    except LookupError:
        raise HTTPException(404) from None
    if job.account != call.user.id:
        raise HTTPException(404)
    return job


PASSPHRASE = "passphrase"  # noqa: S105  # the name of a field
AS_AUTHOR = "as_author"


def signing_as_author(call: Call) -> SigningAccess | None:
    """Return what a run needs to be signed by the user who starts it; None where the form does not ask for that.

    The fields are those of ``sign_as_author`` in ``keys/signing.html``. Its ``words`` go among those of ``run``, its
    ``environment`` to the job. Raises RefusalError where the key is not ready.
    """
    if call.text(AS_AUTHOR) != "yes":
        return None
    return call.site.keys.signing(call.user, call.text(PASSPHRASE))
