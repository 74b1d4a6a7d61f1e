"""Whether walking along fibres helps training."""
