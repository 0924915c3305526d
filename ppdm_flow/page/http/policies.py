"""The policy that an address names."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ppdm_flow.api.loading.kinds import FileKind
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.policies.files import YAML
from ppdm_flow.page.services.policies.policies import PolicyText, UnknownPolicyError
from ppdm_flow.page.services.refusal import RefusalError


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
