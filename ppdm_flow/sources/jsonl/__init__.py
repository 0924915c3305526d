"""The plugin `jsonl`."""
