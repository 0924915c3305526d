"""The fields of the lock file."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.documents import Sha256, Text, about

Distribution = Annotated[Text, about("The installed package that brings it.")]
Version = Annotated[Text, about("The package's version.")]


class LockedFile(TypedDict):
    """A file with definitions."""

    sha256: Annotated[Sha256, about("Of the file's bytes.")]


class LockedTemplate(LockedFile):
    """A template, and the package that brings it, where one does."""

    distribution: NotRequired[Distribution]
    version: NotRequired[Version]


class LockedPlugin(TypedDict):
    """A plugin."""

    distribution: Distribution
    version: Version


class LockedUses(TypedDict):
    """What a policy uses."""

    templates: Annotated[list[str], about("Templates above.")]
    files: Annotated[list[str], about("Files above.")]
    plugins: Annotated[list[str], about("Plugins above.")]


class LockDocument(TypedDict):
    """The lock file of release policies: ppdm-flow.lock.

    Which bytes and which versions stand behind each policy. `ppdm-flow lock` writes it.
    """

    lock: Annotated[Literal[1], about("Version of this file's form.")]
    language: Annotated[PositiveInt, about("Version of the policy language.")]
    templates: Annotated[
        dict[str, LockedTemplate], about("Templates: `builtin:NAME`, `pkg:DISTRIBUTION/NAME`, or a path.")
    ]
    files: Annotated[dict[str, LockedFile], about("Files with definitions by their paths: hierarchies.")]
    plugins: Annotated[dict[str, LockedPlugin], about("Plugins: `anonymizers/NAME`, `audits/NAME` and so on.")]
    policies: Annotated[dict[str, LockedUses], about("Policies by their paths, with what each of them uses.")]
