"""What happens, a chapter a file: actions, each declared with what it shows in a trace and when it is tried."""
