"""Pseudonymize: HMAC-SHA-256 of every distinct value."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.pseudonymize.spec import PseudonymizeParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, Column, union
from ppdm_flow.tables.table import Table

LEAST_BYTES = 16
LEAST_DIFFERENT = 4
BY_ATTRIBUTE, SHARED = "attribute", "shared"
"""Scopes with a meaning of their own; any other word is the name of one."""
_FILE_LIMIT = 1 << 16


def read_key(params: PseudonymizeParams, home: Path) -> bytes:
    """Return the key's bytes, without white space around them. Raises PluginError; the key is never shown."""
    if params.key_env is not None and params.key_file is None:
        place = f"the environment variable {params.key_env}"
        value = os.environ.get(params.key_env)
        if value is None:
            raise _error(f"{place} is not set")
        key = value.encode(errors="surrogateescape").strip()
    elif params.key_file is not None and params.key_env is None:
        place = f"the key file {params.key_file}"
        key = _file(home / params.key_file, place)
    else:
        raise _error("give either `key_env` or `key_file`: pseudonyms need a key from outside")
    if len(key) < LEAST_BYTES:
        raise _error(f"{place} holds a key of {len(key)} bytes; it needs {LEAST_BYTES}")
    if len(set(key)) < LEAST_DIFFERENT:
        raise _error(f"{place} holds a key that hardly differs from byte to byte")
    return key


def _file(path: Path, place: str) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_FILE_LIMIT).strip()
    except OSError as error:
        raise _error(f"{place} cannot be read: {error.strerror}") from None


def _error(text: str) -> PluginError:
    return PluginError(Diagnostic("PPF790", text, help="make a key once: openssl rand -hex 32"))


class Pseudonymize:
    """Replaces each value by the first ``length`` hexadecimal digits of HMAC-SHA-256(key, attribute, value)."""

    def __init__(self, params: PseudonymizeParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Read the key and rule out collisions. Raises PluginError, naming the key's place or the column."""
        require(self.params.attributes, data.schema.names, ctx.step)
        names = self.params.chosen(data.schema.names)
        key = read_key(self.params, ctx.home)
        apart = self.params.scope == BY_ATTRIBUTE
        scopes = tuple((name, _subkey(key, _label(self.params.scope, name))) for name in names)
        transform = PseudonymTransform(scopes, self.params.length, self.params.scope)
        domains = {name: data.domain(name) for name in names}
        groups = list(domains.values()) if apart else [union(domains.values())]
        for group, name in zip(groups, names, strict=False):
            _refuse_collisions(name, _pseudonyms(group.to_pylist(), dict(scopes)[name], self.params.length))
        figures = {f"{name}.values": Figure(len(domain), "values") for name, domain in domains.items()}
        return Fitted(transform, figures=figures)


@dataclass(frozen=True, slots=True)
class PseudonymTransform(DeterministicTransform):
    """``scopes`` are (attribute, its key); no representation shows a key."""

    scopes: tuple[tuple[str, bytes], ...] = field(repr=False)
    length: int
    scope: str

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the values; missing and suppressed cells stay."""
        return part.replaced({name: _replaced(part[name], key, self.length) for name, key in self.scopes})

    def describe(self) -> Mapping[str, Any]:
        """Everything but the key."""
        return {
            "attributes": [name for name, _ in self.scopes],
            "method": "HMAC-SHA-256",
            "digits": self.length,
            "scope": self.scope,
        }


def _label(scope: str, attribute: str) -> bytes:
    """What sets a key apart beside the secret: the attribute, nothing, or the name of a stated scope."""
    if scope == BY_ATTRIBUTE:
        return b"attribute\0" + attribute.encode()
    return b"shared" if scope == SHARED else b"scope\0" + scope.encode()


def _subkey(key: bytes, label: bytes) -> bytes:
    """A key for each scope: equal values of two scopes have unlike pseudonyms, those of one scope equal ones."""
    return hmac.digest(key, b"ppdm-flow pseudonym v1\0" + label, hashlib.sha256)


def _pseudonyms(values: Iterable[str], key: bytes, length: int) -> list[str]:
    return [hmac.digest(key, value.encode(), "sha256").hex()[:length] for value in values]


def _replaced(column: Column, key: bytes, length: int) -> Column:
    """The column with pseudonyms as categories, sorted: their order tells nothing of the values' order."""
    used = np.flatnonzero(column.in_use())
    values = column.categories.take(pa.array(used)).to_pylist()
    pseudonyms = np.array(_pseudonyms(values, key, length), dtype=f"S{length}")
    order = np.argsort(pseudonyms)
    code_map = np.full(len(column.categories), MISSING, dtype=np.int32)
    code_map[used[order]] = np.arange(len(used), dtype=np.int32)
    return column.mapped(code_map, pa.array(pseudonyms[order].astype(str), pa.string()))


def _refuse_collisions(name: str, pseudonyms: list[str]) -> None:
    lost = len(pseudonyms) - len(set(pseudonyms))
    if lost:
        text = f"{lost} values of the column `{name}` would share a pseudonym with another one"
        raise PluginError(Diagnostic("PPF791", text, help="raise `length`"))
