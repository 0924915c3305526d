"""Rules on releases: the file's place, the randomness its audience allows, and names that every system can have."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core import texts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.rules.scene import Scene


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``releases`` and ``randomness``."""
    for name, release in scene.policy.releases.items():
        path = ("releases", name, "path")
        yield from tuple(_outside(scene, release.path, path)) or released_path(scene, release.path, path)
    yield from _randomness(scene)


def _outside(scene: Scene, text: str, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    hint = "write a file name, such as `patients.csv`: it is relative to the release's own folder"
    parts = text.replace("\\", "/").split("/")
    if not text.strip() or parts[-1] in ("", ".", ".."):
        yield scene.fault("PPF516", "the path of a release must name a file", path, hint=hint)
    elif parts[0] == "" or ":" in parts[0] or parts[0] == "~":
        yield scene.fault("PPF516", f"`{short(text)}` is an absolute path", path, hint=hint)
    elif ".." in parts:
        yield scene.fault("PPF516", f"`{short(text)}` leads out of the release's folder", path, hint=hint)


def _randomness(scene: Scene) -> Iterator[Diagnostic]:
    if scene.lacks("randomness", "mode"):
        return
    randomness = scene.policy.randomness
    if randomness.mode == "sealed":
        if randomness.seed is not None:
            yield scene.fault(
                "PPF583",
                "a seed has no use in `sealed` mode, where the key is secret and new for every run",
                ("randomness", "seed"),
                at_key=True,
                hint="remove it, or say `mode: reproducible`",
            )
        return
    path = ("randomness", "mode")
    if randomness.seed is None and not scene.lacks("randomness", "seed"):
        yield scene.fault("PPF583", "`reproducible` mode needs a `seed`", path, hint="add `seed: …`")
    yield scene.fault(
        "PPF513",
        "a reader who has this policy can undo the randomization of its releases",
        path,
        warning=True,
        hint="`sealed` keeps the key secret; this is for tests and papers",
    )
    for name, release in scene.policy.releases.items():
        if release.audience == "public":
            yield scene.fault(
                "PPF512",
                f"release `{name}` is public, and its randomness is reproducible",
                ("releases", name, "audience"),
                hint="a public release needs `randomness: {mode: sealed}`",
                related=scene.related(("randomness", "mode"), "reproducible here"),
            )


def judge_names(scene: Scene) -> Iterator[Diagnostic]:
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
    taken = texts.beside(parts[0]) if parts else None
    if taken is not None:
        text = f"`{short(parts[0])}` is the name of a document that stands beside the released file: `{taken}`"
        yield scene.fault("PPF596", text, path, hint="give the file another name, such as `patients.csv`")


def _refused(scene: Scene, part: str, path: PolicyPath, *, at_key: bool) -> Iterator[Diagnostic]:
    why = texts.refused(part)
    if why is not None:
        hint = "letters, digits, `_`, `-` and dots are fine everywhere"
        yield scene.fault("PPF598", f"`{short(part)}` {why}", path, at_key=at_key, hint=hint)


def _alike(scene: Scene, section: str, names: tuple[str, ...]) -> Iterator[Diagnostic]:
    for name, first in texts.alike(names).items():
        text = f"`{name}` and `{first}` are one file or folder on systems that do not tell A from a"
        related = scene.related((section, first), "the other one")
        yield scene.fault("PPF597", text, (section, name), at_key=True, related=related)
