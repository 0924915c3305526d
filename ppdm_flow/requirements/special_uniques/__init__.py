"""The requirement `special_uniques`."""
