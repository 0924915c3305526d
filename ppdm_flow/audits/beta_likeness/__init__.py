"""The audit `beta_likeness`."""
