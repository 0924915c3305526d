"""Policy files, read once, and what their head says."""
