"""What checking policies says, in every form."""
