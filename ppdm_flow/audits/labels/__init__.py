"""Released labels as an attacker reads them: the values of persons that each label may hide."""
