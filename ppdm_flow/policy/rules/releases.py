"""Releases: where the file goes, and which randomness its audience allows."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.file_names import released_path
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
                "PPF514",
                "a seed has no use in `sealed` mode, where the key is secret and new for every run",
                ("randomness", "seed"),
                at_key=True,
                hint="remove it, or say `mode: reproducible`",
            )
        return
    path = ("randomness", "mode")
    if randomness.seed is None and not scene.lacks("randomness", "seed"):
        yield scene.fault("PPF514", "`reproducible` mode needs a `seed`", path, hint="add `seed: …`")
    yield scene.fault(
        "PPF513",
        "whoever has this policy can undo the randomization of its releases",
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
