"""An engine as a user would add one: a package, and a line for the registry. It writes known records."""
