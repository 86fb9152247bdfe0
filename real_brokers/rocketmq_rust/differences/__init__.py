"""What rocketmq-rust does in another way than RocketMQ: a file for each kind of difference."""

from __future__ import annotations

from typing import Final

from real_brokers.rocketmq_rust.differences.answers import ANSWERS
from real_brokers.rocketmq_rust.differences.records import RECORDS
from real_brokers.rocketmq_rust.differences.transactions import TRANSACTIONS

DIFFERENCES: Final = (*TRANSACTIONS, *ANSWERS, *RECORDS)
"""All of them: first those that matter to a message."""
