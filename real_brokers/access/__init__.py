"""The project's client before a real broker with access control and TLS: what it is told, and what it leaves."""
