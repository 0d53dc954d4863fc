"""One training run, from a recipe to a folder with a trained model: loop, checkpoints, devices, precision."""
