"""The requirement `sensitivities`."""
