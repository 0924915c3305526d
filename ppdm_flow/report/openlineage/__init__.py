"""A run as an event of OpenLineage."""
