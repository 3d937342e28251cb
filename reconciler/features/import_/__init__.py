"""Import: from content of the service or a file to manifests with names and references. Pure."""
