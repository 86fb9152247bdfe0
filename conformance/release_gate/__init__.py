"""Which releases of RocketMQ changed what a rule speaks of, and of what nobody has said yet what that means."""
