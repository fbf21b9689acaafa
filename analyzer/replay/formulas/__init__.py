"""What AReaL computes from a training batch, one subject a module, as functions of tensors."""
