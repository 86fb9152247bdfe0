"""Turns what a broker and its producers leave behind into traces."""
