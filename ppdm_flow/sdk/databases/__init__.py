"""The common part of readers and writers of databases: connections, logins and errors."""
