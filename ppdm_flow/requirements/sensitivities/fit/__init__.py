"""Whether released cells follow the operator that a requirement is judged by, with and without their originals."""
