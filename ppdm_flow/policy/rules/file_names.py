"""Names that become files and folders: no two of a release are one, and every system can have them."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core import file_names
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.rules.scene import Scene


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge the names of the policy, its releases and its steps."""
    policy = scene.policy
    yield from _refused(scene, policy.name, ("name",), at_key=False)
    for section, entries in (("releases", policy.releases), ("steps", policy.steps)):
        for name in entries:
            yield from _refused(scene, name, (section, name), at_key=True)
        yield from _alike(scene, section, tuple(entries))


def released_path(scene: Scene, text: str, path: PolicyPath) -> Iterator[Diagnostic]:
    """Judge the path of a release, which stays in the release's folder."""
    parts = [part for part in text.split("/") if part not in ("", ".", "..")]
    for part in parts:
        yield from _refused(scene, part, path, at_key=False)
    taken = file_names.beside(parts[0]) if parts else None
    if taken is not None:
        text = f"`{short(parts[0])}` is the name of a document that stands beside the released file: `{taken}`"
        yield scene.fault("PPF596", text, path, hint="give the file another name, such as `patients.csv`")


def _refused(scene: Scene, part: str, path: PolicyPath, *, at_key: bool) -> Iterator[Diagnostic]:
    why = file_names.refused(part)
    if why is not None:
        hint = "letters, digits, `_`, `-` and dots are fine everywhere"
        yield scene.fault("PPF598", f"`{short(part)}` {why}", path, at_key=at_key, hint=hint)


def _alike(scene: Scene, section: str, names: tuple[str, ...]) -> Iterator[Diagnostic]:
    for name, first in file_names.alike(names).items():
        text = f"`{name}` and `{first}` are one file or folder on systems that do not tell A from a"
        related = scene.related((section, first), "the other one")
        yield scene.fault("PPF597", text, (section, name), at_key=True, related=related)
