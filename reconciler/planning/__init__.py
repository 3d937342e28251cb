"""Planning: decide what would be done. It reads the service and the journal, and writes neither."""
