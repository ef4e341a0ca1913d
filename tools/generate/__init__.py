"""`make generate` writes the checked-in files that follow from declarations in Rust, and the tables of the reference.

To add one, write a module with a function from declarations to text, and name it in `targets.TARGETS`. A table of a
page lies between two comments, and its name is in `reference.SECTIONS`.
"""
