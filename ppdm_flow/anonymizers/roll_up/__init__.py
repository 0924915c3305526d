"""The plugin ``roll_up``: items become their categories."""
