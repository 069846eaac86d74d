"""Client of Annals, a shared memory for people and AI agents."""

from .client import AnnalsError, AsyncClient, Client

__all__ = ["AnnalsError", "AsyncClient", "Client"]
