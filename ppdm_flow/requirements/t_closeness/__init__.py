"""The requirement `t_closeness`."""
