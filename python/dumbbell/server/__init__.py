"""The web application's server: files of a workspace as documents that browsers edit, over HTTP and one WebSocket.

It has no logic of its own about networks: it reads, checks and plans scenarios with what the command line uses.
"""
