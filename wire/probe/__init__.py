"""The probe: a schedule of the specification played on a running broker by what a client can send, and what it left."""
