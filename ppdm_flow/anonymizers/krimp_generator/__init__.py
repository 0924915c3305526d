"""The plugin ``krimp_generator``: a generated table in place of the original."""
