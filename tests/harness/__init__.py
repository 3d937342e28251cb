"""What the tests stand on: a service, a journal, manifests, and three doors to run a command.

- In process: `sites.Site` calls what a use case is made of, with manifests as data. Quickest,
  and every request can be disturbed.
- Command line: `doors.typed` and what is built on it (`workspaces.Workspace`, `Shop`,
  `doors.in_this_process`) parse real arguments in this process; errors become exit codes.
- Process: `doors.in_a_process`, `doors.on_terminal` and `forked` start one, for what only a
  process shows: signals, streams, terminals, a death.
"""
