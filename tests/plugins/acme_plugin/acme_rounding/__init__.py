"""Unbiased random rounding, as a plugin for ppdm-flow."""
