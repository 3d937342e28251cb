"""The comment under a pull request."""
