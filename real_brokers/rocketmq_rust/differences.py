"""Differences of rocketmq-rust to RocketMQ, as schedules; first those that matter to a message."""

from __future__ import annotations

from typing import Final

from real_brokers.rocketmq_rust.differences_of_answers import ANSWERS
from real_brokers.rocketmq_rust.differences_of_records import RECORDS
from real_brokers.rocketmq_rust.differences_of_transactions import TRANSACTIONS

DIFFERENCES: Final = (*TRANSACTIONS, *ANSWERS, *RECORDS)
"""All of them."""
