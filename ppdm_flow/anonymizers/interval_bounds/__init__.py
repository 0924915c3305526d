"""The plugin ``interval_bounds``: two numbers in the place of an interval's label."""
