"""Names of policies and figures in words that a reader knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ppdm_flow.core import phrases
from ppdm_flow.policy.language.kinds import kind_of as kind_of_requirement
from ppdm_flow.policy.language.wording import Failure


def lever(result: dict[str, Any], plan: dict[str, Any]) -> str:
    """Return a sentence of advice about a result that does not hold; empty where it holds."""
    if result["holds"]:
        return ""
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
    spec = kind_of_requirement(result["id"])
    if spec is None:
        return ""
    requirement: dict[str, Any] = next((r for r in plan.get("requirements", ()) if r.get("id") == result["id"]), {})
    steps = [s for s in plan.get("steps", ()) if result["id"] in s.get("serves", ())]
    return spec.wording.advice(Failure(requirement, steps, _released(plan, result["release"])))


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
        return (
            "Make classes over all quasi-identifiers in one step, and leave out rows that are in no large enough class"
            f" instead of hiding their cells: `suppress` with `small: rows`{linked}."
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


def _released(plan: dict[str, Any], release: str) -> dict[str, list[str]]:
    """Return what was done to each attribute of a release, by its name in the source."""
    node: dict[str, Any] = next((r for r in plan.get("releases", ()) if r.get("name") == release), {})
    return {
        attribute.get("source") or attribute["name"]: [change["change"] for change in attribute.get("changes", ())]
        for attribute in node.get("attributes", ())
    }


_TRUTH = {True: "yes", False: "no"}


def kind_of(identifier: str) -> str:
    """Return the kind of a requirement or gate by its id: that of ``gates.x`` is a gate."""
    parts = identifier.split(".")
    if parts[0] == "gates":
        return "Gate"
    spec = kind_of_requirement(identifier)
    return spoken(parts[1] if len(parts) > 1 else parts[0]) if spec is None else spec.wording.label


def title_of(identifier: str) -> str:
    """Return the name that the policy gave to a requirement or gate, or else its kind."""
    parts = identifier.split(".", 2)
    if parts[0] == "gates" and len(parts) > 1:
        return identifier.partition(".")[2]
    return parts[2] if len(parts) > 2 else kind_of(identifier)


def is_of_all_files(result: Mapping[str, Any]) -> bool:
    """Whether a result is about what all files of the run tell together."""
    return str(result.get("metric", "")).rpartition(".")[2].startswith("together_")


def spoken(name: str) -> str:
    """``error_increase`` becomes ``Error increase``."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def moment(text: str) -> str:
    """Return an ISO 8601 time as ``2026-11-20, 09:14 UTC``; text that is none stays as it is."""
    try:
        time = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return text
    return f"{time:%Y-%m-%d, %H:%M} UTC"


def flat(value: Any) -> str:
    """Return a plain value as text."""
    if value is None:
        return "\N{EM DASH}"
    if isinstance(value, bool):
        return _TRUTH[value]
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def listed(names: Sequence[str]) -> str:
    """``a, b and c``; of a long list only the first few and how many more."""
    return phrases.listed(names, 6)
