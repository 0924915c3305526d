"""The JSON Schemas (draft-07) of what people write and what the program writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ppdm_flow.api.mine.fields import MinedDocument
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.documents import json_schema
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.texts import json_text
from ppdm_flow.engine.held.publication import HeldRunPublication
from ppdm_flow.engine.ledger.fields import LedgerDocument
from ppdm_flow.engine.manifest import Manifest
from ppdm_flow.evidence.statement import InTotoStatement
from ppdm_flow.plan import schemas as plan_schemas
from ppdm_flow.policy import project_file
from ppdm_flow.policy import signers as signers_schemas
from ppdm_flow.policy import test as test_schemas
from ppdm_flow.policy.inheritance import template_schema
from ppdm_flow.policy.language import schemas
from ppdm_flow.policy.lock import LockDocument
from ppdm_flow.report.diff.fields import DiffDocument
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.sweep.rows import SweepDocument

_TYPES = {
    "manifest": Manifest,
    "report": ReportDocument,
    "sweep": SweepDocument,
    "mined": MinedDocument,
    "diff": DiffDocument,
    "lock": LockDocument,
    "ledger": LedgerDocument,
    "publication": HeldRunPublication,
    "statement": InTotoStatement,
}
_POLICY = "policy"
SCHEMAS: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    _POLICY: schemas.schema,
    "template": template_schema.schema,
    "test": test_schemas.schema,
    "signers": signers_schemas.schema,
    "project": project_file.schema,
    "plan": plan_schemas.schema,
    **{name: partial(json_schema, name, document) for name, document in _TYPES.items()},
}
"""What makes the schema of each name; the files are ``NAME.v1.json``."""


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema as a file; ``stale`` says that what stands there is something else."""

    name: str
    file: Path
    text: str
    stale: bool


def installed_text(names: Sequence[str]) -> str:
    """Return the schema of policies with the kinds of requirements of other packages.

    Raises UsageError for another schema, PluginError where a kind cannot be loaded.
    """
    if tuple(names) != (_POLICY,):
        text = "`--installed` is about the schema of policies alone"
        raise UsageError(Diagnostic("PPF692", text, help="write `ppdm-flow schema policy --installed`"))
    return json_text(schemas.installed_schema())


def text_of(name: str) -> str:
    """Return a schema as JSON text. Raises UsageError for an unknown name."""
    if name not in SCHEMAS:
        hint = did_you_mean(name, SCHEMAS)
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
