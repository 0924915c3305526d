"""The plugin ``sample``: fewer rows, chosen at random."""
