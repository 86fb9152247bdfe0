"""What holds in runs of any length, and why an instance that forgets may be believed."""
