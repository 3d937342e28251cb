"""Doctor and conformance: checks of what a run needs, and of a service against the API document."""
