"""The second route: what a reader of files can know, in SQL from cells and source rows."""
