"""The broker's process on the wire: its threads in time, its death and return, and what befalls its messages."""
