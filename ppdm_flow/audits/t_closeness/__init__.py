"""The audit `t_closeness`."""
