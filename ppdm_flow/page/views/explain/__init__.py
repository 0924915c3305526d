"""The pages that `ppdm-flow explain` shows."""
