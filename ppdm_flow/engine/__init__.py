"""Run the DAG and leave traces."""
