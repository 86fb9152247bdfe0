"""Plans for real brokers that were left in disorder: made, sent, read back; and each guarantee that they may break."""
