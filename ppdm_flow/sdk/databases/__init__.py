"""What readers and writers of databases share: connections, logins, and what goes wrong."""
