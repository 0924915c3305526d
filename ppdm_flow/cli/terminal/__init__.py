"""What verbs share: words and options of the command line, and what is written where."""
