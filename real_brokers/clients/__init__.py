"""Real clients, a Java one of each release and a Go one, which send and consume what a scenario says."""
