"""What a plugin is: everything that a plugin author needs stands in this room, in ``core`` and in ``tables``."""
