"""Copies of files of other file systems, as errors name them."""

from pathlib import Path

import pytest

from files.brought import named_as_there
from files.errors import BadContentError, UnreadableFileError
from files.remote_path import RemotePath

COPY = Path("/srv/halfcheck-of-a-test/store")


@pytest.mark.parametrize("place", ["s3://bucket/store", "hdfs://host:9000/"])
def test_an_error_names_the_place_and_not_its_copy(place: str) -> None:
    conf = COPY / "broker.conf"
    for error in (UnreadableFileError(conf, "too large"), BadContentError(f"{conf}: too large")):
        with pytest.raises(type(error)) as raised, named_as_there(COPY, RemotePath.of(place)):
            raise error
        assert str(raised.value) == f"{place.rstrip('/')}/broker.conf: too large"
