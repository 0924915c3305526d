"""The plugin `closest_record`."""
