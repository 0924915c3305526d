"""YAML as nodes: scalars are texts, every one with its place."""
