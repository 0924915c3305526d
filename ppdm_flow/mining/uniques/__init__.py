"""Which combinations of columns tell rows apart: minimal unique ones, and how many rows are alone under the others."""
