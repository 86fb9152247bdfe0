"""Machines of the field whose numbers of states are published: what an engine must get right before it is believed."""
