"""The configuration: sections, loading, live settings."""
