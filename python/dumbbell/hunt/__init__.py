"""`dumbbell hunt`: searches networks for those in which a congestion control fails, and shrinks what it finds.

`space` has candidates (small lists of events), `network` makes scenarios of them, `goals` says what a fault is,
`evaluating` simulates, `search` proposes, `shrinking` and `causes` reduce, `finds` writes and confirms, `hunting` joins
them.
"""
