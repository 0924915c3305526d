"""Sums, means and covariances of columns of numbers, the same for any partitioning and any order of the rows."""
