"""What a run or an audit says, in every form."""
