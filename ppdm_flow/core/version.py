"""The version of the program."""

from __future__ import annotations

VERSION = "0.2.0"
