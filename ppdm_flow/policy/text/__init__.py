"""Reads YAML as nodes: scalars stay texts, each with its place."""
