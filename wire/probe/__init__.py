"""The probe: plays a schedule of the specification on a running broker by a client's requests, and reads the result."""
