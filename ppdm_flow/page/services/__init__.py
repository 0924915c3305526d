"""What the server keeps and does for all pages: accounts, journal, jobs, uploads, tables. Knows no request."""
