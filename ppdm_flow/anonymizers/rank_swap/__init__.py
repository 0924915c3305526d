"""The plugin ``rank_swap``: each number changes places with one of near rank."""
