"""Full-domain recoding: the lattice of generalizations, what each node costs, and an optimal search over it."""
