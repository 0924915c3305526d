"""What to do next about a requirement or gate that does not hold: the advice of its kind, with a few cases before it.

The advice of a kind is the ``advice`` of its ``WORDING``, in ``requirements/KIND/spec.py``. Cases of the ledger are
told apart by words in the sentence of the audit, so that a change of such a sentence changes the advice too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import RequirementSpec, built_in, kind_of
from ppdm_flow.policy.language.wording import Failure
from ppdm_flow.report.run.wording import is_cumulative, is_of_all_files, listed


def advise(result: Mapping[str, Any], plan: dict[str, Any], *, unpaired: bool = False) -> str:
    """Return what to do next about a result; nothing where it holds.

    ``plan`` is the one of the report. ``unpaired``: it was not measured, since nobody knows which row is whose.
    """
    if result["holds"]:
        return ""
    if unpaired:
        return _PAIR_THEM
    parts = result["id"].split(".")
    if parts[0] == "gates":
        return (
            "Ease the privacy requirement that costs most, choose steps that keep more, or move the bound: all of"
            " that is for the owner of the policy to decide."
        )
    if plan.get("ledger") and _FORGOTTEN in result["sentence"]:
        return _ADVICE_ON_FORGOTTEN
    if is_of_all_files(result):
        if plan.get("ledger") and "the ledger" in result["sentence"]:
            return _ADVICE_ON_UNKNOWN + (_AND_SUBJECT if "`subject`" in result["sentence"] else "")
        if plan.get("ledger") and "(no. " in result["sentence"]:
            return _ADVICE_ON_EARLIER
        return _advice_on_all_files(result["release"], plan)
    spec = _over_releases() if is_cumulative(result) else kind_of(result["id"])
    if spec is None:
        return ""
    requirement: dict[str, Any] = next((r for r in plan.get("requirements", ()) if r.get("id") == result["id"]), {})
    steps = [s for s in plan.get("steps", ()) if result["id"] in s.get("serves", ())]
    released, changing = _released(plan, result["release"]), _changing(plan, result["release"])
    several_rows = plan.get("people") is not None
    return spec.wording.advice(Failure(requirement, steps, released, changing, result, several_rows))


def _over_releases() -> RequirementSpec | None:
    """Return the kind of requirement on several releases: its advice is that of all such figures."""
    return next((spec for spec in built_in() if spec.requirement.successive and spec.written), None)


_PAIR_THEM = (
    "No change of the data is asked for: nothing was measured. Let `ppdm-flow run` make the release, or where a run has"
    " made it, read that run's report or measure it again: `ppdm-flow verify RUN --data FILE`."
)
_ADVICE_ON_EARLIER = (
    "Show these attributes as the earlier release did, by the same maps or hierarchies, leave them out, or leave out"
    " the people that it was about."
)
_FORGOTTEN = "people whom the ledger has forgotten"
_ADVICE_ON_FORGOTTEN = (
    "Leave these people out of the source: `ppdm-flow ledger LEDGER` says when they were erased, and nobody can work"
    " out any more what that release reveals of them."
)
_ADVICE_ON_UNKNOWN = (
    "The ledger cannot tell what an earlier release shows. Waive the requirement, with a reason, or begin another"
    " ledger if nobody has that release any more."
)
_AND_SUBJECT = " Name the ledger's `subject`, so that the next releases are known."


def _advice_on_all_files(release: str, plan: dict[str, Any]) -> str:
    """Return what to do where all files of a run tell more of the rows of ``release`` than it does alone."""
    sources = {r["name"]: set(_released(plan, r["name"])) for r in plan.get("releases", ())}
    beside = {n: sorted(sources[release] & own) for n, own in sources.items() if n != release and release in sources}
    beside = {n: names for n, names in beside.items() if names}
    several_rows = plan.get("people") is not None
    if not beside:
        linked = ", and `linked: drop` for rows that are seen to be one person's" if several_rows else ""
        steady = "Leave out columns that are the same in all or most rows of a person. Else m" if several_rows else "M"
        return (
            f"{steady}ake classes over all quasi-identifiers in one step, and leave out rows that are in no large"
            f" enough class instead of hiding their cells: `suppress` with `small: rows`{linked}."
        )
    common = listed([f"`{n}`" for n in dict.fromkeys(a for names in beside.values() for a in names)])
    linked = (
        ", or leave out what is seen to be one person's with `suppress: {linked: drop}` or `limit_rows` before the"
        " releases part"
    )
    return (
        f"{listed([f'`{n}`' for n in (release, *beside)])} show something of {common}, by which their rows are"
        " joined. Make one recoding over the quasi-identifiers of all of them and cut every release from what it"
        f" makes, or show these attributes in one release only{linked if several_rows else ''}. Only where nobody"
        " ever gets two of them, say so: `recipients: apart`."
    )


def _changing(plan: dict[str, Any], release: str) -> dict[str, list[dict[str, Any]]]:
    """Return the steps that changed each attribute of a release, by its name in the source."""
    node: dict[str, Any] = next((r for r in plan.get("releases", ()) if r.get("name") == release), {})
    steps = {step["name"]: step for step in plan.get("steps", ())}
    return {
        attribute.get("source") or attribute["name"]: [
            steps[change["step"]] for change in attribute.get("changes", ()) if change.get("step") in steps
        ]
        for attribute in node.get("attributes", ())
    }


def _released(plan: dict[str, Any], release: str) -> dict[str, list[str]]:
    """Return what was done to each attribute of a release, by its name in the source."""
    node: dict[str, Any] = next((r for r in plan.get("releases", ()) if r.get("name") == release), {})
    return {
        attribute.get("source") or attribute["name"]: [change["change"] for change in attribute.get("changes", ())]
        for attribute in node.get("attributes", ())
    }
