"""Where workers run: in local processes, or inline in this one."""
