"""Real Linux TCP between network namespaces, over our own link emulator."""
