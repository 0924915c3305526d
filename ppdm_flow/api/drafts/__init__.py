"""Policies while somebody writes them: texts that stand in no file yet, checked and compared."""
