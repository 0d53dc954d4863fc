"""Images: found, decoded, resized, stored once, augmented and served in batches."""
