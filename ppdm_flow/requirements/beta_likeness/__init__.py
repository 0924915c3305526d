"""The requirement `beta_likeness`."""
