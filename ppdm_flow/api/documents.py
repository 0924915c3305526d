"""The JSON Schemas (draft-07) of what people write and what the program writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.documents import json_schema
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import closest
from ppdm_flow.core.visible import json_text

Document = Mapping[str, Any]


def _policy() -> Document:
    from ppdm_flow.policy.language.schemas import schema

    return schema()


def _template() -> Document:
    from ppdm_flow.policy.inheritance.template_schema import schema

    return schema()


def _test() -> Document:
    from ppdm_flow.policy.test.schemas import schema

    return schema()


def _plan() -> Document:
    from ppdm_flow.plan.schemas import schema

    return schema()


def _manifest() -> Document:
    from ppdm_flow.engine.manifest import Manifest

    return json_schema("manifest", Manifest)


def _report() -> Document:
    from ppdm_flow.report.schemas import schema

    return schema()


def _sweep() -> Document:
    from ppdm_flow.report.sweep.document import SweepDocument

    return json_schema("sweep", SweepDocument)


def _mined() -> Document:
    from ppdm_flow.api.mine.documents import MinedDocument

    return json_schema("mined", MinedDocument)


def _diff() -> Document:
    from ppdm_flow.report.diff.document import DiffDocument

    return json_schema("diff", DiffDocument)


def _lock() -> Document:
    from ppdm_flow.policy.lock.document import LockDocument

    return json_schema("lock", LockDocument)


def _ledger() -> Document:
    from ppdm_flow.engine.ledger.document import LedgerDocument

    return json_schema("ledger", LedgerDocument)


SCHEMAS: Mapping[str, Callable[[], Document]] = {
    "policy": _policy,
    "template": _template,
    "test": _test,
    "plan": _plan,
    "manifest": _manifest,
    "report": _report,
    "sweep": _sweep,
    "mined": _mined,
    "diff": _diff,
    "lock": _lock,
    "ledger": _ledger,
}
"""What makes the schema of each name; the files are ``NAME.v1.json``. A module is imported when it is asked for."""


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema as a file; ``stale`` says that what stands there is something else."""

    name: str
    file: Path
    text: str
    stale: bool


def text_of(name: str) -> str:
    """Return a schema as JSON text. Raises UsageError for an unknown name."""
    if name not in SCHEMAS:
        near = closest(name, SCHEMAS)
        hint = f"did you mean `{near}`?" if near else None
        listing = ", ".join(f"`{known}`" for known in SCHEMAS)
        raise UsageError(Diagnostic("PPF692", f"there is no schema `{name}`", hint=hint, help=f"there are {listing}"))
    return json_text(SCHEMAS[name]())


def schema(names: Sequence[str], folder: Path) -> tuple[SchemaFile, ...]:
    """Return the schemas of these names (all, where none is given) beside the files in ``folder``."""
    schema_files = []
    for name in names or tuple(SCHEMAS):
        text = text_of(name)
        file = folder / f"{name}.v1.json"
        schema_files.append(SchemaFile(name, file, text, stale=_content(file) != text))
    return tuple(schema_files)


def write_schemas(files: Sequence[SchemaFile]) -> None:
    """Write the schemas that are stale. Raises UsageError where the folder cannot be written."""
    for each in files:
        if each.stale:
            try:
                each.file.parent.mkdir(parents=True, exist_ok=True)
                each.file.write_text(each.text, encoding="utf-8")
            except (NotADirectoryError, FileExistsError, PermissionError):
                raise UsageError(Diagnostic("PPF693", f"cannot write `{each.file}`")) from None


def _content(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
