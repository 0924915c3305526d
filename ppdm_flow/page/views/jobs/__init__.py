"""Jobs: what waits, runs and is over; how it goes on; cancelling."""
