"""What a write does to the fields of a resource, in words."""
