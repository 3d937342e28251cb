"""The only client of the management API."""
