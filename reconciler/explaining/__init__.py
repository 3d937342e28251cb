"""What can be explained: every field, and everything that has a code."""
