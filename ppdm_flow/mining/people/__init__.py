"""Counts where people have several rows: people in classes, and the people found by knowing several rows of one."""
