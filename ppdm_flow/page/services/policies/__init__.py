"""Policies and what belongs to them: the files of one folder, their earlier versions, their Git working tree."""
