"""What can be wrong with an entry. Codes of one's own begin with a word of one's own."""

from __future__ import annotations

from ppdm_flow.plugins import Role
from ppdm_flow.policy.rules.grouping import grouped
from ppdm_flow.policy.rules.scene import entry_path


def judge(scene, entries):
    for called, entry in entries.items():
        path = entry_path("acme_p_sensitive", called)
        yield from grouped(scene, entry.attributes, path)
        if entry.k < entry.p:
            text = f"{entry.k} rows cannot have {entry.p} values, so `k` bounds nothing"
            yield scene.fault("ACME10", text, (*path, "k"), hint=f"write `k: {entry.p}` or more", warning=True)
        every = [n for n, attribute in scene.policy.attributes.items() if attribute.role is Role.SENSITIVE]
        names = entry.sensitive or every
        if not names and not scene.lacks("attributes"):
            hint = "give an attribute `role: sensitive`, or name one in `sensitive`"
            yield scene.fault("ACME11", "there is no sensitive attribute to protect", path, at_key=True, hint=hint)
        for i, name in enumerate(names):
            place = (*path, "sensitive", str(i)) if entry.sensitive else path
            attribute, faults = scene.attribute(name, place)
            yield from faults
            domain = attribute.domain if attribute is not None else None
            if domain is not None and entry.p > len(set(domain)):
                text = f"no class can have {entry.p} values of `{name}`: its domain has {len(set(domain))}"
                yield scene.fault("ACME12", text, (*path, "p"))
