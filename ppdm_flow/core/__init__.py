"""Our words: what the other rooms share. No I/O."""
