"""Tables that belong together: a plan for each, keys that change alike, and the joins that whoever has all can make."""
