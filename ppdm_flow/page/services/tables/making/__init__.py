"""Making the copy of a released table: the work of a process of its own."""
