"""What would be done: reads the service and the journal, never writes either."""
