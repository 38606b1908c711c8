"""Texts that have no formula."""

from asyncplay.config.loading import dump
from asyncplay.config.sections import Config


def test_every_key_its_default_and_its_meaning_read_as_before(golden):
    golden("config.toml", dump(Config()))
