"""Bytes between processes: messages, their encoding and the pipe that carries them."""
