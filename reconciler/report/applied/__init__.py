"""What an apply did, one file a format."""
