"""The results of a run or an audit, in every form."""
