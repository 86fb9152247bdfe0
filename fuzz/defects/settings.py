"""Settings and time: how long checks take by the clock, with the defaults of a release and with what a proxy allows."""

from __future__ import annotations

from itertools import pairwise

from fuzz.defects.broker_under_test import SECOND_MS, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.broker.transaction.check_outcome import CheckBranch
from reference.client.client_message import properties_of_recovery_duration
from reference.client.producer_messages import MQClientError

_HALVES = 25
_PASS_MS = 2_000


@scenario("A20", "L2", affected="5.3.3", repaired_in="5.1.0", also_in="5.2.0 5.4.0 5.5.1")
def round_longer_than_the_interval(profile: BrokerProfile) -> Seen:
    """The store is slow, and 25 halves wait for a check.

    Each pass of a round takes two seconds: less together than a round may last.
    """
    under = BrokerUnderTest(profile)
    first = under.half().properties["UNIQ_KEY"]
    for _ in range(_HALVES - 1):
        under.half()
    lasted: list[int] = []
    asked: list[int] = []
    for _ in range(3):
        under.wait(under.broker.settings.transaction_check_interval_ms / SECOND_MS)
        began = under.clock.now
        for step in under.steps(pass_ms=_PASS_MS, waits=False):
            is_of_first = step.check_request is not None and step.check_request.transaction_id == first
            asked += [under.clock.now] if is_of_first else []
        lasted.append((under.clock.now - began) // SECOND_MS)
    interval = under.broker.settings.transaction_check_interval_ms // SECOND_MS
    return Seen(
        symptom=max(lasted) > interval,
        facts={
            "transactionCheckInterval, in s": interval,
            "a round may last, in s": under.broker.settings.max_process_time_limit_ms // SECOND_MS,
            "it lasted, in s": tuple(lasted),
            "from a check of a half to the next, in s": tuple(
                (later - earlier) // SECOND_MS for earlier, later in pairwise(asked)
            ),
        },
    )


_DECIDED_S = 330
_YOUNG_S = 4


@scenario("A30", "L2", affected="4.3.0", repaired_in="4.5.1")
def few_checks(profile: BrokerProfile) -> Seen:
    """A local transaction is decided after five and a half minutes, and its producer answers checks by what it knows.

    Before that, a half of another transaction is met by a round when it is four seconds old.
    """
    under = BrokerUnderTest(profile)
    interval = under.broker.settings.transaction_check_interval_ms // SECOND_MS
    under.wait(interval - _YOUNG_S)
    young = under.half()
    under.wait(_YOUNG_S)
    early = [step.branch.value for step in under.steps(waits=False) if step.half == young.queue_offset]
    under.roll_back(young)
    under = BrokerUnderTest(profile)
    half = under.half()
    asked, given_up = 0, None
    for _ in range(under.broker.settings.transaction_check_max + 1):
        for step in under.steps():
            age = (under.clock.now - half.born_timestamp) // SECOND_MS
            asked += step.check_request is not None
            given_up = age // interval if step.branch is CheckBranch.DISCARDED else given_up
            if step.check_request is not None and age >= _DECIDED_S:
                under.answer_commit(step.check_request)
    deliveries = under.deliveries(half.properties["UNIQ_KEY"])
    return Seen(
        symptom=not deliveries,
        facts={
            "a half of four seconds in a round": early[-1],
            "checks": asked,
            "minute in which it was given up": given_up,
            "deliveries": deliveries,
        },
    )


_HOUR_S = 3_600


@scenario("B43", "L2", affected="5.3.3", repaired_in="5.3.3+proxy_knows_time_of_checks", also_in="5.0.0 5.4.0 5.5.0")
def recovery_duration_of_an_hour(profile: BrokerProfile) -> Seen:
    """A producer asks the proxy for checks an hour after the send, the most that it allows, and ends nothing."""
    under = BrokerUnderTest(profile)
    settings = under.broker.settings
    time_of_checks = settings.transaction_check_max * settings.transaction_check_interval_ms // SECOND_MS
    refusal, checks, given_up = None, 0, None
    try:
        half = under.half(properties_of_recovery_duration(_HOUR_S, time_of_checks, under.profile.switches))
    except MQClientError as error:
        refusal = str(error)
    else:
        for _ in range(settings.transaction_check_max + 1):
            for step in under.steps():
                checks += step.check_request is not None
                if step.branch is CheckBranch.DISCARDED:
                    given_up = (under.clock.now - half.born_timestamp) // SECOND_MS
    return Seen(
        symptom=given_up is not None and not checks,
        facts={
            "the producer is told": refusal,
            "seconds that all checks take": time_of_checks,
            "given up after so many seconds": given_up,
            "checks": checks,
        },
    )
