"""Runs below the folder of runs, made by this server, the command line or another machine."""
