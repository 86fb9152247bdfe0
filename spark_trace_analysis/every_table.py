"""All tables, in the order in which they are shown."""

from spark_trace_analysis.audit.columns.audited_tables import FINDINGS, TRANSACTIONS
from spark_trace_analysis.tables.traces import EVENTS_TABLE, RUNS, VERDICTS

ALL = (EVENTS_TABLE, VERDICTS, RUNS, TRANSACTIONS, FINDINGS)
