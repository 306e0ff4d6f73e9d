"""Reading a text before it is changed: characters, scripts, what must stay, what carries meaning."""
