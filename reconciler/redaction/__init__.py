"""What may be shown: live documents are redacted, and secrets are resolved just before sending."""
