"""The plugin ``genetic_encode``: ids exchange bits with their neighbours."""
