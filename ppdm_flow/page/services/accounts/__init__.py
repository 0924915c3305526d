"""Who may do what: accounts, roles, passwords, sessions."""
