"""A store of LangGraph whose items are items of Annals. It needs the package langgraph-checkpoint."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import datetime
from operator import ge, gt, le, lt
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple
from urllib.parse import quote, unquote

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

from .client import AnnalsError, Client
from .schemas import Knowledge

_SUFFIX = ".json"  # labels have no period, so no namespace has the name of a key


def _tell(uri: str, written: Knowledge) -> None:
    """Log what the server removed, since the interface of a store has no answer to a put."""
    redacted = written.get("redacted")
    if redacted:
        removed = ", ".join(f"{name}: {count}" for name, count in sorted(redacted.items()))
        logging.getLogger("annals").warning("removed from %s before it was stored: %s", uri, removed)


class AnnalsStore(BaseStore):
    """The namespace and the key are an item's URI, the value is its content.

    A query is a search of Annals: it returns what is about the query, at most 100 items. scopes say who may see the
    items, by default only who the client's key is for. root is the directory of the items.
    """

    def __init__(
        self, client: Client, *, scopes: Optional[Sequence[str]] = None, root: str = "viking://resources/langgraph"
    ):
        self._client = client
        self._scopes = scopes
        self._root = root

    def batch(self, ops: Iterable[Op]) -> List[Result]:
        """Reads first and writes then, of one key only what was put last, as InMemoryStore does."""
        results: List[Result] = []
        puts: Dict[str, PutOp] = {}
        for op in ops:
            result: Result = None
            if isinstance(op, GetOp):
                found = self._find(self._uri(op.namespace, op.key))
                result = self._item(found) if found else None
            elif isinstance(op, SearchOp):
                result = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                result = self._namespaces(op)
            elif isinstance(op, PutOp):
                puts[self._uri(op.namespace, op.key)] = op
            else:
                raise ValueError(f"unknown operation {type(op)}")
            results.append(result)
        for uri, op in puts.items():
            self._put(uri, op.value)
        return results

    async def abatch(self, ops: Iterable[Op]) -> List[Result]:
        return await asyncio.to_thread(self.batch, ops)

    def _uri(self, namespace: Sequence[str], key: Optional[str] = None) -> str:
        names = [quote(label, safe="") for label in namespace]
        return "/".join([self._root, *names, "" if key is None else quote(key, safe="") + _SUFFIX])

    def _item(self, found: Knowledge, score: Optional[float] = None) -> Optional[SearchItem]:
        """None if the store did not name it."""
        path = found["uri"][len(self._root) + 1 :]
        *namespace, key = (unquote(name) for name in path[: -len(_SUFFIX)].split("/"))
        if not path.endswith(_SUFFIX) or not namespace:
            return None
        created, updated = _time(found["created_at"]), _time(found["updated_at"])
        return SearchItem(tuple(namespace), key, _value(found["content"]), created, updated, score)

    def _find(self, uri: str) -> Optional[Knowledge]:
        return next((found for found in self._client.list({"uri": uri}) if found["uri"] == uri), None)

    def _put(self, uri: str, value: Optional[Dict[str, Any]]) -> None:
        found = self._find(uri)
        if value is None:
            if found:
                self._client.forget(found["id"], "deleted from the store")
            return
        content = json.dumps(value, ensure_ascii=False)
        if not found:
            item: Knowledge = {"uri": uri, "content": content, "type": "definition"}
            if self._scopes:
                item["scopes"] = list(self._scopes)
            try:
                _tell(uri, self._client.remember(item))
                return
            except AnnalsError as error:
                found = self._find(uri) if error.status == 409 else None
                if not found:
                    raise
        _tell(uri, self._client.revise(found["id"], {"content": content}))

    def _search(self, op: SearchOp) -> List[SearchItem]:
        uri = self._uri(op.namespace_prefix)
        found: List[SearchItem] = []
        if op.limit < 1:
            return found
        for item in self._about(op.query, uri) if op.query else map(self._item, self._client.list({"uri": uri})):
            if item and all(_matches(item.value.get(name), wanted) for name, wanted in (op.filter or {}).items()):
                found.append(item)
                if len(found) == op.offset + op.limit:
                    break
        return found[op.offset :]

    def _about(self, query: str, uri: str) -> Iterator[Optional[SearchItem]]:
        answer = self._client.request(
            "/v1/search",
            "post",
            query={"min_position": self._client.position},  # so that what this client wrote can be found by its meaning
            body={"query": query, "uri": uri, "limit": 100, "order": "score", "copies": True},
        )
        return (self._item(hit["knowledge"], hit["score"]) for hit in answer["items"])

    def _namespaces(self, op: ListNamespacesOp) -> List[Tuple[str, ...]]:
        items = map(self._item, self._client.list({"uri": self._uri(())}))
        found = {item.namespace for item in items if item}
        for condition in op.match_conditions or ():
            found = {namespace for namespace in found if _fits(namespace, condition.match_type, condition.path)}
        return sorted({namespace[: op.max_depth] for namespace in found})[op.offset : op.offset + op.limit]


def _fits(namespace: Tuple[str, ...], match_type: str, path: Sequence[str]) -> bool:
    part = namespace[: len(path)] if match_type == "prefix" else namespace[max(0, len(namespace) - len(path)) :]
    return len(part) == len(path) and all(wanted in ("*", label) for label, wanted in zip(part, path))


def _time(text: str) -> datetime:
    """Python reads fractions of any length from 3.11 on only."""
    head, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{head}.{fraction[:6]:0<6}+00:00")


def _value(content: str) -> Dict[str, Any]:
    """The value that an item is about. Somebody may have written it anew without this store."""
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"content": content}


_COMPARISONS = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def _compares(value: Any, operator: str, bound: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return (value == bound) == (operator == "$eq")
    if operator not in _COMPARISONS:
        raise ValueError(f"unknown operator {operator}")
    try:
        return _COMPARISONS[operator](float(value), float(bound))
    except (TypeError, ValueError):  # not a number
        return False


def _matches(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(value, operator, bound) for operator, bound in wanted.items())
        return isinstance(value, dict) and all(_matches(value.get(name), each) for name, each in wanted.items())
    if isinstance(wanted, (list, tuple)):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(_matches, value, wanted))
    return value == wanted
