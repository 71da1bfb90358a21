"""Packs in S3, against moto's server; s3fs and moto are no requirements, and without them there is nothing to test."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from uuid import uuid4

import pytest

from blindspot.errors import BlindspotError
from blindspot.runs import computing
from blindspot.runs.packs import importing
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.importing import Imported
from blindspot.runs.packs.results import PackResults
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("s3fs") and importlib.util.find_spec("moto")),
    reason="pip install s3fs 'moto[server]', of fsspec's version",
)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    name = f"packs-{uuid4().hex[:8]}"  # all of moto's servers in a process have one memory
    s3fs.S3FileSystem().mkdir(name)
    yield f"s3://{name}/sweep"
    server.stop()
    s3fs.S3FileSystem.clear_instance_cache()


def test_packs_go_through_s3(world: World, bucket: str) -> None:
    world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS)
    requests = [world.request("evalrank", name, "small-pairs") for name in ("trigrams", "bigrams")]
    for computed in (True, False):
        found = list(computing.compute(requests, world.settings, PackResults(folder_at(bucket))))
        assert [isinstance(one, computing.Done) and one.computed for one in found] == [computed] * 2
    taken = list(importing.import_packs(folder_at(bucket), world.repository))
    assert [isinstance(one, Imported) and one.is_new for one in taken] == [True] * 2
    assert len(world.repository.runs()) == 2


def test_a_bucket_that_is_not_there_is_said_in_a_line(world: World, bucket: str) -> None:
    world.add(GramEncoder("trigrams", 3), SMALL_PAIRS)
    elsewhere = folder_at("s3://no-such-bucket/sweep")
    with pytest.raises(BlindspotError) as said:
        list(importing.import_packs(elsewhere, world.repository))
    assert "\n" not in str(said.value)
    (found,) = computing.compute(
        [world.request("evalrank", "trigrams", "small-pairs")], world.settings, PackResults(elsewhere)
    )
    assert isinstance(found, computing.Failed)
