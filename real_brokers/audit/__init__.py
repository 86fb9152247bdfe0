"""``halfcheck audit --broker`` of real brokers against the audit of their stores; its forecasts against what came."""
