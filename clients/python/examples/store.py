"""A LangGraph store whose items everybody can find, correct and audit in Annals."""

from annals import Client
from annals.langgraph import AnnalsStore

store = AnnalsStore(Client())

store.put(("users", "mia"), "food", {"text": "Mia loves pizza", "since": 2024})
print(store.get(("users", "mia"), "food").value)
for item in store.search(("users",), query="What does Mia eat?"):
    print(item.namespace, item.key)
for item in store.search(("users",), filter={"since": {"$gte": 2020}}):
    print(item.key)
print(store.list_namespaces(prefix=("users",)))
store.delete(("users", "mia"), "food")
