"""What the web application costs the browser and the server."""
