"""Runs that were really trained, once for all tests here."""

import pytest
from trained import Trained, train_both


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Trained:
    return train_both(tmp_path_factory.mktemp("trained"))
