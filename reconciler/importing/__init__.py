"""From what the service or a file holds to manifests: telling apart, naming, referring. Pure."""
