"""What every layer uses: checks of input, registries, messages, files, types of tensors."""
