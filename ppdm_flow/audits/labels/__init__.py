"""Released labels as an attacker reads them: which values of a person each of them may stand for."""
