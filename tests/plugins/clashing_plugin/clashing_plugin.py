"""A plugin whose names are taken already: it must never be imported."""

raise RuntimeError("the registry imported a plugin that it had to refuse by its name")
