"""Policy to DAG; explain and run share one plan value."""
