"""The plugin ``swap_records``: records that stand out in their area change places with similar ones of another."""
