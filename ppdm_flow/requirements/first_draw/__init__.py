"""The requirement `first_draw`."""
