"""Labs that stay: a scenario's network to live in, with a shell, programs, traffic and changes of links.

A lab belongs to the process that started it, its owner, and ends with it. Other processes of the same user reach it by
its socket, which lies in the user's runtime directory (`place`).
"""
