"""The plugin `id_recovery`."""
