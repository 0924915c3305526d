"""The plugin ``top_bottom_code``: the largest and smallest numbers are cut off or averaged."""
