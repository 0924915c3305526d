"""Where data is that is in no local file: buckets, servers, and tables of Spark."""
