"""The comparison of two policies, clause by clause."""

from __future__ import annotations

from collections.abc import Collection

from ppdm_flow.policy.loaded import PolicyReading
from ppdm_flow.policy.order.approvals import approvals, signers
from ppdm_flow.policy.order.attributes import attributes
from ppdm_flow.policy.order.clauses import Clauses, ComparedClause, PolicyComparison, relation
from ppdm_flow.policy.order.frame import ComparedPolicies, Contents, PolicyFrame, unread
from ppdm_flow.policy.order.gates import MetricReader
from ppdm_flow.policy.order.governance import floors, project, waivers
from ppdm_flow.policy.order.implications import bounds_of
from ppdm_flow.policy.order.means import Canon, as_written, means
from ppdm_flow.policy.order.reading import conduct, reading
from ppdm_flow.policy.order.releases import paired, recipients, releases
from ppdm_flow.policy.order.required import ClaimComparison, asked_of, choices, claims_of
from ppdm_flow.policy.order.unknown import unknown


def compare(
    old: PolicyReading,
    new: PolicyReading,
    canon: Canon = as_written,
    contents: tuple[Contents, Contents] = (unread, unread),
) -> PolicyComparison:
    """Return what ``new`` is compared with ``old``.

    Parameters
    ----------
    canon
        Gives one text to all spellings of a plugin's parameters.
    contents
        Tell the contents of files that the old and the new policy name, such as a population.

    Raises ValueError where a policy is not valid.
    """
    before, after = Clauses(old), Clauses(new)
    frames = PolicyFrame(before.policy, contents[0]), PolicyFrame(after.policy, contents[1])
    between = ComparedPolicies(frames[1], frames[0])
    chosen = list(choices(before, after, between))
    required = _required(before, after, between, canon, {change.clause for change in chosen})
    judged = {".".join(path) for path in (*required.before, *required.after)}
    changes: list[ComparedClause] = [
        *attributes(before, after),
        *reading(before, after, between),
        *chosen,
        *required.changes(),
        *releases(before, after, paired(before.policy, after.policy, canon)),
        *recipients(before, after),
        *conduct(before, after, between),
        *waivers(before, after, judged),
        *approvals(before, after),
        *unknown(before, after),
        *means(before, after, canon),
    ]
    governance = (*project(before, after), *floors(before, after), *signers(before, after, between))
    return PolicyComparison(relation(changes), tuple(changes), governance)


def _required(
    before: Clauses, after: Clauses, between: ComparedPolicies, canon: Canon, chosen: Collection[str]
) -> ClaimComparison:
    """Return the claims of both; not those of clauses that are compared as ``chosen``."""
    names = paired(before.policy, after.policy, canon)
    old = MetricReader(before.policy, asked_of(before), {}, canon, bounds_of)
    new = MetricReader(after.policy, asked_of(after), {later: name for name, later in names.items()}, canon, bounds_of)
    claims = claims_of(before, between.asked, old), claims_of(after, between.given, new)
    kept = [{path: own for path, own in every.items() if ".".join(path) not in chosen} for every in claims]
    return ClaimComparison(before, after, kept[0], kept[1], between)
