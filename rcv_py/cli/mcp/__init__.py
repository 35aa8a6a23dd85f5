"""The commands as tools of a Model Context Protocol server; only `server` knows the protocol's package."""
