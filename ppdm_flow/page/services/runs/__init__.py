"""Runs below the folder of runs, whoever made them: this server, the command line, another machine."""
