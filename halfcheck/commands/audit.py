"""``halfcheck audit``: what became of every transaction in a real store."""

from __future__ import annotations

from halfcheck.audit.audit_options import AuditOptions
from halfcheck.errors import ExitCode


def command(options: AuditOptions) -> ExitCode:
    """Say which transactions in a RocketMQ store are lost, doubled, parked or pending.

    Reads commitlog/, and consumequeue/ and config/ if they are there; a broker.conf in the store or beside it is used,
    also for where the log lies: several paths, another disk, DLedger's folder.
    What is lost or doubled does not change the exit code: this is a report; --fail-on lost,doubled makes it 12. Damaged
    records do: the table shows what could be read, the damage is listed with it, and the exit code is 150.

    --topic, --group, --state, --since and --transaction leave what is listed, and what --csv, --resend and --fail-on
    take; --out always has all rows.

    Examples
    --------
    halfcheck audit /home/rocketmq/store
    halfcheck audit conformance/golden/5.3.3/late --all --json
    halfcheck audit /backup/store --version 4.9.7 --limit 20
    halfcheck audit /home/rocketmq/store --commit-log /disk1/commitlog --commit-log /disk2/commitlog
    halfcheck audit /backup/store --out rows --report audit.html
    halfcheck audit /home/rocketmq/store --since 2h --fail-on lost,doubled,damage
    halfcheck audit /home/rocketmq/store --state lost,parked --csv rows.csv --resend resend.csv
    halfcheck audit /home/rocketmq/store --transaction order-4711
    halfcheck audit /mnt/shared/store --master spark://10.0.0.5:7077 --out /mnt/shared/rows
    """
    from halfcheck.audit.auditing import audit_as_asked

    return audit_as_asked(options)
