"""What it raises when a hub does not give what was asked for."""

from __future__ import annotations


def hub_errors() -> tuple[type[Exception], ...]:
    """Return OSError and the HTTP client's own errors (a refusing proxy raises those).

    Examples
    --------
    >>> OSError in hub_errors()
    True
    """
    import huggingface_hub.utils

    client = getattr(huggingface_hub.utils, "httpx", None)
    return (OSError, client.HTTPError) if client is not None else (OSError,)
