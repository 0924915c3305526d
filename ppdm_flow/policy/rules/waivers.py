"""Rules on waivers: each names an existing requirement, a reason, an owner and a date (PPF330 to PPF338)."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.pages import pages
from ppdm_flow.core.suggest import closest
from ppdm_flow.core.waivers import day, is_code, is_hash
from ppdm_flow.policy.language.waivers import WaiverEntry
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.requirements import requirements_of
from ppdm_flow.policy.rules.scene import Scene

REPEAT = "ledger.repeat"
_INTERNAL = ("PPF69", "PPF9")
_FORMS = "`privacy.REQUIREMENT`, `gates.NAME`, a code `PPFnnn`, or the hash of a run's finding"


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``waivers``, without a look at what day it is."""
    seen: dict[tuple[str, str | None], str] = {}
    for name, waiver in scene.policy.waivers.items():
        yield from _words(scene, name, waiver)
        yield from _target(scene, name, waiver)
        first = seen.setdefault((waiver.of, waiver.at), name)
        if first != name:
            yield scene.fault(
                "PPF338",
                f"`{short(waiver.of)}` is waived twice",
                ("waivers", name, "of"),
                hint="keep one of them: one reason, one owner, one date",
                related=scene.related(("waivers", first), "the other waiver"),
            )


def _words(scene: Scene, name: str, waiver: WaiverEntry) -> Iterator[Diagnostic]:
    for key, text in (("reason", waiver.reason), ("owner", waiver.owner)):
        if not text.strip():
            yield scene.fault("PPF334", f"waiver `{name}` has no {key}", ("waivers", name, key), hint=_ASKED[key])
    if day(waiver.until) is None:
        message = f"`{short(waiver.until)}` is not a date"
        yield scene.fault("PPF331", message, ("waivers", name, "until"), hint="write YYYY-MM-DD")


_ASKED = {"reason": "say why: every report shows it", "owner": "name who answers for it"}


def _target(scene: Scene, name: str, waiver: WaiverEntry) -> Iterator[Diagnostic]:
    path, of = ("waivers", name, "of"), waiver.of
    if waiver.at is not None and not is_code(of):
        text = f"`at` goes with a code, and `{short(of)}` is none"
        yield scene.fault("PPF330", text, ("waivers", name, "at"), hint="remove the line")
    if is_code(of):
        yield from _code(scene, of, path)
    elif of == REPEAT:
        text = "`ledger.repeat` cannot be waived: several draws of one value tell what no bound covers"
        yield scene.fault("PPF336", text, path, hint="`repeat: warn` says openly that they may")
    elif not is_hash(of):
        yield from _id(scene, of, path)


def _code(scene: Scene, code: str, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    own = "PPF330" <= code <= "PPF338"
    if own or code.startswith(_INTERNAL):
        what = "is about waivers themselves" if own else "is a fault of the program"
        yield scene.fault("PPF336", f"`{code}` {what}, and cannot be waived", path)
    elif code not in pages():
        near = closest(code, pages())
        hint = f"did you mean `{near}`?" if near else None
        yield scene.fault("PPF330", f"there is no code `{code}`", path, hint=hint)


def _id(scene: Scene, of: str, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    top = of.partition(".")[0]
    known = [f"gates.{gate}" for gate in scene.policy.gates]
    known += [r.id for r in requirements_of(scene.policy, scene.places) if r.id != REPEAT]
    if of in known or (top in ("privacy", "gates") and scene.lacks(top)):
        return
    near = closest(of, known)
    if top in ("privacy", "gates"):
        message = f"there is no {'gate' if top == 'gates' else 'requirement'} `{short(of)}`"
        note = f"a waiver can be of {', '.join(f'`{k}`' for k in known[:12])}" if known and not near else None
    else:
        message, note = f"`{short(of)}` cannot be waived", f"a waiver is of {_FORMS}"
    hint = f"did you mean `{near}`?" if near else None
    yield scene.fault("PPF330", message, path, hint=hint, note=note)
