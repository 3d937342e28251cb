"""What travels: one module per resource, every field of the API document.

A model says the shape and the bounds of one object. Fields nobody sent get
the zero value the service renders (`""`, `0`, `[]`, `*_UNSPECIFIED`); `None`
means the field is not rendered at all: objects, members of a choice, and
fields whose zero value the service itself would refuse.
"""
