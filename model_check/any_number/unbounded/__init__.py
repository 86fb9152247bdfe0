"""Each step for ANY number of transactions: formulas over queues of any length, made of the specification's source."""
