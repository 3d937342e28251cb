"""The forge: events, pull requests and comments over its REST API. Only `ci` uses it."""
