"""What a reader of the files can know (DESIGN, section 6a): candidates, their weights, and what these reveal."""
