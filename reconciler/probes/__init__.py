"""Questions put to a service to learn how it is, and never to change it."""
