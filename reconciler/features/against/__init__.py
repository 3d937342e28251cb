"""Plans against a commit instead of the service, and where live differs from the base branch."""
