"""One module a published table."""
