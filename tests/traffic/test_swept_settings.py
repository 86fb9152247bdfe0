"""What ``--sweep`` takes: names of broker.conf and workload, lists and ranges; and one line for what can't be."""

from __future__ import annotations

import pytest

from traffic.errors import TrafficError
from traffic.sweep.swept_setting import SweptSetting, workload_names

TIME = "transactionTimeOut"


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        (f"{TIME}=1s..60s", TIME, "1s 2.8s 7.7s 22s 60s"),
        (f"{TIME}=1s..5s", TIME, "1s 2s 3s 4s 5s"),
        (f"{TIME}=1s..100s:3", TIME, "1s 10s 100s"),
        (f"{TIME}=1s..101s:3:linear", TIME, "1s 51s 101s"),
        (f"{TIME}=1s..4s:3:log", TIME, "1s 2s 4s"),
        ("transactionCheckMax=5..15:3", "transactionCheckMax", "5 10 15"),
        ("flushDiskType=ASYNC_FLUSH,SYNC_FLUSH", "flushDiskType", "ASYNC_FLUSH SYNC_FLUSH"),
        ("network.loss_to_broker=1e-6..1e-3:4", "network.loss_to_broker", "1e-06 1e-05 0.0001 0.001"),
        ("local.p99=500ms..1.5s:3", "local.time.p99", "500ms 1s 1.5s"),
        ("local.hangs=0..0.2:3", "local.hangs", "0 0.1 0.2"),
        ("client.kind=remoting,grpc", "client.kind", "remoting grpc"),
    ],
)
def test_lists_and_ranges(text: str, name: str, values: str) -> None:
    found = SweptSetting.of(text)
    assert (found.name, " ".join(value.text for value in found.values)) == (name, values)


def test_a_percentile_has_a_short_name_where_a_section_has_one_distribution() -> None:
    names = workload_names()
    assert names["local.p99"] == names["local.time.p99"] == "local.time.p99"
    assert names["pauses.broker.p50"] == "pauses.broker.lasts.p50"
    assert "network.p99" not in names, "a section of two paths"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("transactionTimeout=1s", "transactionTimeout: no such setting; did you mean transactionTimeOut?"),
        ("local.tme=1s", "local.tme: no such setting; did you mean local.time?"),
        ("=1s", "(nothing): no such setting; there are transactionTimeOut, "),
        (
            "sendMessageThreadPoolNums=1,2",
            "sendMessageThreadPoolNums: no simulation depends on it; of broker.conf they",
        ),
        (TIME, f"{TIME}: expected NAME=VALUES, such as transactionTimeOut=1s..60s"),
        (f"{TIME}=", "there is nothing to sweep over; give values with commas"),
        (f"{TIME}=,", "there is nothing to sweep over; give values with commas"),
        (f"{TIME}=1s,,2s", "a value between two commas is empty"),
        (f"{TIME}=1s,2s,1s", "a value stands there twice"),
        (f"{TIME}=60s..1s", "the range 60s..1s has to end above its beginning; did you mean 1s..60s?"),
        (f"{TIME}=1s..1s", "the range 1s..1s has to end above its beginning"),
        (f"{TIME}=1..5s", "one end of 1..5s has a unit and the other one has none"),
        (f"{TIME}=1s..soon", "'soon' is no number and no length of time such as 250ms or 60s"),
        (f"{TIME}=1s..", "expected LOW..HIGH, LOW..HIGH:STEPS or LOW..HIGH:STEPS:log"),
        (f"{TIME}=1s..5s:1", "1 is no number of steps from 2 to 1,000"),
        (f"{TIME}=1s..5s:1001", "1001 is no number of steps from 2 to 1,000"),
        (f"{TIME}=1s..2s:1000", "1000 steps are too many for that range: to two digits they are 11 values"),
        (f"{TIME}=1s..5s:3:cubic", "no scale 'cubic'; expected log or linear"),
        ("local.hangs=0..1:3:log", "a logarithmic range can't begin at 0; give a beginning above 0, or :linear"),
    ],
)
def test_what_cannot_be_swept_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(TrafficError) as refused:
        SweptSetting.of(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
