"""DuckDB with every feature switched off that reaches beyond its given tables."""

from __future__ import annotations

Setting = str | bool | int | float | list[str]

NO_EXTENSIONS: dict[str, Setting] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
"""Nothing is fetched or loaded."""
NO_FILES: dict[str, Setting] = {**NO_EXTENSIONS, "enable_external_access": "false"}
"""Nor is a file read or written, beside the one that was opened."""
