"""The conformance kit: how a plugin author proves a plugin."""
