"""Turns what brokers and producers leave behind (store, driver log, recorded trace) into traces or a data frame."""
