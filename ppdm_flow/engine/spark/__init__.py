"""The engine of a cluster: fragments are worked on by Spark's executors, each as a small table of the local engine."""
