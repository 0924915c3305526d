"""Tables of databases made of a released run, once more: where a server failed just when it had to confirm them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.api.verify import verify
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import RELEASED
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.plan.definition import ReleaseNode, TableNode
from ppdm_flow.policy import load
from ppdm_flow.policy.language.patterns import DeclaredAttributes

PLAN = "plan.json"
POLICY = "policy.resolved.yaml"


def deliver(run: Path) -> tuple[str, ...]:
    """Make the tables of a run's releases again, and return which they are. The run may be in an object store.

    Raises UsageError where the run is not released, not what it was, or none of its releases becomes a table; and what
    a run raises where a table cannot be made.
    """
    with copies_for() as copies:
        return _delivered(copies.local_run(run))


def _delivered(run: Path) -> tuple[str, ...]:
    from ppdm_flow.engine.delivery import staged  # noqa: PLC0415  # heavy, and not needed before a run is whole

    outcome = verify(run)
    if not outcome.holds or outcome.verdict != RELEASED:
        why = "it is not as it was" if not outcome.holds else f"its verdict is `{outcome.verdict}`"
        help_ = "`ppdm-flow verify RUN` says more"
        raise UsageError(Diagnostic("PPF485", f"run `{run.name}` cannot be delivered: {why}", help=help_))
    plan = json.loads((run / PLAN).read_text(encoding="utf-8"))
    releases = table_releases(run, plan)
    if not releases:
        help_ = "`ppdm-flow explain into` says how a policy asks for one"
        raise UsageError(Diagnostic("PPF485", f"no release of run `{run.name}` becomes a table", help=help_))
    files = [(release, run / RELEASED / release.name / release.path) for release in releases]
    with staged(str(plan["policy"]), run.name, files) as delivery:
        delivery.commit()
        return tuple(delivery.tables)


def table_releases(run: Path, plan: Mapping[str, Any]) -> tuple[ReleaseNode, ...]:
    """Return the releases of a run that become tables; ``plan`` is the document of its plan."""
    if all(release.get("into") is None for release in plan["releases"]):
        return ()
    return tuple(_releases(plan, _descriptions(run)))


def _releases(plan: Mapping[str, Any], descriptions: DeclaredAttributes | None) -> Iterator[ReleaseNode]:
    """Yield the releases that become tables, as far as these need them."""
    for release in plan["releases"]:
        into = release.get("into")
        if into is None:
            continue
        indexes = tuple(tuple(index) for index in into["indexes"])
        yield ReleaseNode(
            release["name"],
            release["input"],
            release["path"],
            release["format"],
            release["options"],
            release["audience"],
            tuple(_attribute(each, descriptions) for each in release["attributes"]),
            release["description"],
            into=TableNode(into["url"], into["table"], indexes, tuple(into["grants"])),
            partition_by=tuple(release.get("partition_by", ())),
        )


def _attribute(column: Mapping[str, Any], declared: DeclaredAttributes | None) -> AttributeFacts:
    own = None if declared is None else declared.get(column["name"])
    text = "" if own is None else own.description
    return AttributeFacts(column["name"], Role.INSENSITIVE, AttributeType(column["type"]), description=text)


def _descriptions(run: Path) -> DeclaredAttributes | None:
    policy = load(run / POLICY).policy if (run / POLICY).is_file() else None
    return None if policy is None else DeclaredAttributes.of(policy)
