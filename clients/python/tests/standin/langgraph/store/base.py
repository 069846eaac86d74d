"""What a store sees of langgraph.store.base, for machines without that package: the operations that its methods make."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class GetOp(NamedTuple):
    namespace: tuple
    key: str
    refresh_ttl: bool = True


class SearchOp(NamedTuple):
    namespace_prefix: tuple
    filter: Optional[dict] = None
    limit: int = 10
    offset: int = 0
    query: Optional[str] = None
    refresh_ttl: bool = True


class MatchCondition(NamedTuple):
    match_type: str
    path: tuple


class ListNamespacesOp(NamedTuple):
    match_conditions: Optional[tuple] = None
    max_depth: Optional[int] = None
    limit: int = 100
    offset: int = 0


class PutOp(NamedTuple):
    namespace: tuple
    key: str
    value: Optional[dict]
    index: Any = None
    ttl: Optional[float] = None


Op = Any
Result = Any


class Item:
    def __init__(self, *, value, key, namespace, created_at, updated_at):
        self.value, self.key, self.namespace = value, key, namespace
        self.created_at, self.updated_at = created_at, updated_at


class SearchItem(Item):
    def __init__(self, namespace, key, value, created_at, updated_at, score=None):
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.score = score


class InvalidNamespaceError(ValueError):
    pass


def _searching(prefix, query, filter, limit, offset):
    return SearchOp(prefix, filter, limit, offset, query)


def _listing(prefix, suffix, max_depth, limit, offset):
    given = (("prefix", prefix), ("suffix", suffix))
    return ListNamespacesOp(tuple(MatchCondition(*each) for each in given if each[1]), max_depth, limit, offset)


def _putting(namespace, key, value, index):
    if not namespace or namespace[0] == "langgraph" or any(not label or "." in label for label in namespace):
        raise InvalidNamespaceError(namespace)
    return PutOp(namespace, key, value, index)


class BaseStore:
    __slots__ = ("__weakref__",)

    def get(self, namespace, key):
        return self.batch([GetOp(namespace, key)])[0]

    def search(self, namespace_prefix, /, *, query=None, filter=None, limit=10, offset=0):
        return self.batch([_searching(namespace_prefix, query, filter, limit, offset)])[0]

    def put(self, namespace, key, value, index=None):
        self.batch([_putting(namespace, key, value, index)])

    def delete(self, namespace, key):
        self.batch([PutOp(namespace, key, None)])

    def list_namespaces(self, *, prefix=None, suffix=None, max_depth=None, limit=100, offset=0):
        return self.batch([_listing(prefix, suffix, max_depth, limit, offset)])[0]

    async def aget(self, namespace, key):
        return (await self.abatch([GetOp(namespace, key)]))[0]

    async def asearch(self, namespace_prefix, /, *, query=None, filter=None, limit=10, offset=0):
        return (await self.abatch([_searching(namespace_prefix, query, filter, limit, offset)]))[0]

    async def aput(self, namespace, key, value, index=None):
        await self.abatch([_putting(namespace, key, value, index)])
