"""`make generate` writes the checked-in files that follow from declarations in Rust.

To add one: write a module with a function from declarations to text, and name it in `targets.TARGETS`.
"""
