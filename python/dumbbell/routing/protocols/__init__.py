"""The protocols whose configurations are generated, one a module."""
