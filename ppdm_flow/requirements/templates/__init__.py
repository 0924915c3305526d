"""The requirement `templates`."""
