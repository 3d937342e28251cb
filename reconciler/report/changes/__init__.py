"""Effects of a write on the fields of a resource, in words."""
