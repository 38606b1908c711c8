"""Where workers live: local processes, or inline in this one."""
