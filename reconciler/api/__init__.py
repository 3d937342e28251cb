"""The one door to the management API."""
