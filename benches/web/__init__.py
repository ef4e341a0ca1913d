"""Costs of the web application, for the browser and the server."""
