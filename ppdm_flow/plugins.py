"""What authors of plugins import: cards, algorithms, results, and the kits that hold them.

A name is imported when it is used, so that a card which asks for `PluginSpec` imports nothing heavy.
"""

# ruff: noqa: PLC0414  # type checkers take a name as exported where it is imported as itself

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ppdm_flow.sdk.spec import imported

if TYPE_CHECKING:
    from ppdm_flow.core.attributes import AttributeFacts as AttributeFacts
    from ppdm_flow.core.attributes import Change as Change
    from ppdm_flow.core.diagnostics import Diagnostic as Diagnostic
    from ppdm_flow.core.diagnostics import Severity as Severity
    from ppdm_flow.core.errors import DataError as DataError
    from ppdm_flow.core.errors import PluginError as PluginError
    from ppdm_flow.core.model import HIGHER as HIGHER
    from ppdm_flow.core.model import LOWER as LOWER
    from ppdm_flow.core.phrases import counted as counted
    from ppdm_flow.core.plugin_info import FigureInfo as FigureInfo
    from ppdm_flow.core.plugin_info import Kind as Kind
    from ppdm_flow.core.plugin_info import PluginInfo as PluginInfo
    from ppdm_flow.core.requirement import Requirement as Requirement
    from ppdm_flow.core.requirement_families import OnAttribute as OnAttribute
    from ppdm_flow.core.requirement_families import OnPeople as OnPeople
    from ppdm_flow.core.requirement_families import reaching as reaching
    from ppdm_flow.core.results import AuditOutcome as AuditOutcome
    from ppdm_flow.core.results import Figure as Figure
    from ppdm_flow.core.results import Finding as Finding
    from ppdm_flow.core.results import Measured as Measured
    from ppdm_flow.core.roles import AttributeType as AttributeType
    from ppdm_flow.core.roles import Nulls as Nulls
    from ppdm_flow.core.roles import Role as Role
    from ppdm_flow.mining.releases.attributes import weight_of as weight_of
    from ppdm_flow.policy.language.kinds import Entries as Entries
    from ppdm_flow.policy.language.kinds import RequirementSpec as RequirementSpec
    from ppdm_flow.policy.language.wording import Failure as Failure
    from ppdm_flow.policy.language.wording import Wording as Wording
    from ppdm_flow.policy.language.wording import larger_classes as larger_classes
    from ppdm_flow.policy.order.marks import Order as Order
    from ppdm_flow.policy.order.marks import order_by_marks as order_by_marks
    from ppdm_flow.sdk.anonymizer import Fitted as Fitted
    from ppdm_flow.sdk.anonymizer import Operator as Operator
    from ppdm_flow.sdk.anonymizer import RowTransform as RowTransform
    from ppdm_flow.sdk.anonymizer import StepContext as StepContext
    from ppdm_flow.sdk.anonymizer import TableTransform as TableTransform
    from ppdm_flow.sdk.audit import AuditContext as AuditContext
    from ppdm_flow.sdk.audit import quoted as quoted
    from ppdm_flow.sdk.compiled import compiled as compiled
    from ppdm_flow.sdk.matrix_operator import MatrixOperator as MatrixOperator
    from ppdm_flow.sdk.spec import Effect as Effect
    from ppdm_flow.sdk.spec import Params as Params
    from ppdm_flow.sdk.spec import PluginSpec as PluginSpec
    from ppdm_flow.sdk.spec import Problem as Problem
    from ppdm_flow.sdk.spec import Scope as Scope
    from ppdm_flow.sdk.view import DataView as DataView
    from ppdm_flow.tables.column import Column as Column
    from ppdm_flow.tables.table import Table as Table
    from ppdm_flow.testing.audit_conformance import AuditCase as AuditCase
    from ppdm_flow.testing.audit_conformance import AuditConformance as AuditConformance
    from ppdm_flow.testing.case import BadInput as BadInput
    from ppdm_flow.testing.case import Case as Case
    from ppdm_flow.testing.conformance import AnonymizerConformance as AnonymizerConformance
    from ppdm_flow.testing.requirement_case import BadEntry as BadEntry
    from ppdm_flow.testing.requirement_case import RequirementCase as RequirementCase
    from ppdm_flow.testing.requirement_conformance import RequirementConformance as RequirementConformance
    from ppdm_flow.testing.strategies import cells as cells
    from ppdm_flow.testing.strategies import tables as tables

_HOMES = {
    "AttributeFacts": "core.attributes",
    "Change": "core.attributes",
    "Diagnostic": "core.diagnostics",
    "Severity": "core.diagnostics",
    "DataError": "core.errors",
    "PluginError": "core.errors",
    "HIGHER": "core.model",
    "LOWER": "core.model",
    "counted": "core.phrases",
    "FigureInfo": "core.plugin_info",
    "Kind": "core.plugin_info",
    "PluginInfo": "core.plugin_info",
    "Requirement": "core.requirement",
    "OnAttribute": "core.requirement_families",
    "OnPeople": "core.requirement_families",
    "reaching": "core.requirement_families",
    "AuditOutcome": "core.results",
    "Figure": "core.results",
    "Finding": "core.results",
    "Measured": "core.results",
    "AttributeType": "core.roles",
    "Nulls": "core.roles",
    "Role": "core.roles",
    "weight_of": "mining.releases.attributes",
    "Entries": "policy.language.kinds",
    "RequirementSpec": "policy.language.kinds",
    "Failure": "policy.language.wording",
    "Wording": "policy.language.wording",
    "larger_classes": "policy.language.wording",
    "Order": "policy.order.marks",
    "order_by_marks": "policy.order.marks",
    "Fitted": "sdk.anonymizer",
    "MatrixOperator": "sdk.matrix_operator",
    "Operator": "sdk.anonymizer",
    "RowTransform": "sdk.anonymizer",
    "StepContext": "sdk.anonymizer",
    "TableTransform": "sdk.anonymizer",
    "AuditContext": "sdk.audit",
    "quoted": "sdk.audit",
    "compiled": "sdk.compiled",
    "Effect": "sdk.spec",
    "Params": "sdk.spec",
    "PluginSpec": "sdk.spec",
    "Problem": "sdk.spec",
    "Scope": "sdk.spec",
    "DataView": "sdk.view",
    "Column": "tables.column",
    "Table": "tables.table",
    "AuditCase": "testing.audit_conformance",
    "AuditConformance": "testing.audit_conformance",
    "BadInput": "testing.case",
    "Case": "testing.case",
    "AnonymizerConformance": "testing.conformance",
    "BadEntry": "testing.requirement_case",
    "RequirementCase": "testing.requirement_case",
    "RequirementConformance": "testing.requirement_conformance",
    "cells": "testing.strategies",
    "tables": "testing.strategies",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return imported(f"ppdm_flow.{_HOMES[name]}:{name}")


def __dir__() -> list[str]:
    """Return the names."""
    return sorted(_HOMES)
