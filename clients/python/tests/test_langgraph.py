"""The store does what LangGraph's InMemoryStore does: where the package is installed, both are asked and compared."""

import contextlib
import sys
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timezone
from pathlib import Path

try:
    import langgraph.store.base as base
    from langgraph.store.memory import InMemoryStore
except ImportError:
    sys.path.append(str(Path(__file__).parent / "standin"))
    import langgraph.store.base as base

    InMemoryStore = None

from annals import AnnalsError, Client
from annals.langgraph import AnnalsStore


def plain(items):
    return sorted(((item.namespace, item.key, item.value) for item in items), key=repr)


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.client = Client()
        self.root = f"viking://resources/langgraph-test/{uuid.uuid4()}"
        self.stores = [AnnalsStore(self.client, root=self.root)] + ([InMemoryStore()] if InMemoryStore else [])

    def each(self):
        for store in self.stores:
            with self.subTest(type(store).__name__):
                yield store

    def test_what_is_put_is_got_put_again_and_deleted(self):
        for store in self.each():
            self.assertIsNone(store.get(("users", "1"), "prefs"))
            value = {"theme": "dark", "deep": {"list": [1, "zwei", None, True, 2.5], "说": "明"}}
            store.put(("users", "1"), "prefs", value)
            first = store.get(("users", "1"), "prefs")
            self.assertEqual(plain([first]), [(("users", "1"), "prefs", value)])
            self.assertEqual(first.created_at.tzinfo, timezone.utc)
            store.put(("users", "1"), "prefs", {"theme": "light"})
            self.assertEqual(store.get(("users", "1"), "prefs").value, {"theme": "light"})
            self.assertGreater(store.get(("users", "1"), "prefs").updated_at, first.updated_at)
            self.assertIsNone(store.get(("users",), "prefs"))
            self.assertIsNone(store.get(("users", "1"), "pref"))
            store.delete(("users", "1"), "prefs")
            self.assertIsNone(store.get(("users", "1"), "prefs"))
            store.delete(("users", "1"), "prefs")
            store.put(("users", "1"), "prefs", {"theme": "again"})
            self.assertEqual(plain(store.search(("users",))), [(("users", "1"), "prefs", {"theme": "again"})])

    def test_a_put_says_what_was_removed(self):
        store = self.stores[0]
        for value in ({"office": "13812345678"}, {"office": "13812345678", "mail": "jane@corp.com"}):
            with self.assertLogs("annals", "WARNING") as logged:
                store.put(("firm",), "office", value)
            self.assertIn("firm/office.json before it was stored: ", logged.output[0])
            self.assertIn("phone: 1", logged.output[0])
        with self.assertNoLogs("annals") if sys.version_info >= (3, 10) else contextlib.nullcontext():
            store.put(("firm",), "office", {"office": "on the third floor"})

    def test_names_of_any_form_stay_apart(self):
        names = [(("a",), "b"), (("a", "b"), "c"), (("a/b",), "c"), (("a", "B"), "c"), (("名", "ü %2F"), "钥匙 ?#&"), (("a",), ".")]
        names += [(("a",), key) for key in ("..", "x/../y", " x ", "b.json", "C:", "back\\slash", "", "%", "~")] + [(("~:",), "k")]
        for store in self.each():
            for i, (namespace, key) in enumerate(names):
                store.put(namespace, key, {"i": i})
            for i, (namespace, key) in enumerate(names):
                self.assertEqual(plain([store.get(namespace, key)]), [(namespace, key, {"i": i})])
            self.assertEqual(len(store.search((), limit=100)), len(names))
            self.assertEqual(store.list_namespaces(), sorted({namespace for namespace, _ in names}))

    def test_a_search_takes_what_is_below_the_prefix_and_passes_the_filter(self):
        for store in self.each():
            for i in range(12):
                value = {"i": i, "kind": "note" if i % 3 else "report", "nested": {"i": i, "x": 1}, "list": [i, 1], "text": str(i)}
                store.put(("docs", "odd" if i % 2 else "even"), f"k{i}", value)
            store.put(("docs2",), "other", {"i": 99})

            def found(prefix=("docs",), **given):
                return sorted(item.value["i"] for item in store.search(prefix, limit=100, **given))

            self.assertEqual(found(), list(range(12)))
            self.assertEqual(found(("docs", "odd")), [1, 3, 5, 7, 9, 11])
            self.assertEqual(found(("none",)), [])
            self.assertEqual(len(store.search(("docs",))), 10)
            self.assertEqual(store.search(("docs",), limit=0), [])
            pages = [store.search(("docs",), limit=5, offset=offset) for offset in (0, 5, 10, 15)]
            self.assertEqual([len(page) for page in pages], [5, 5, 2, 0])
            self.assertEqual(sorted(item.value["i"] for page in pages for item in page), list(range(12)))
            for filter, expected in [
                ({"kind": "report"}, [0, 3, 6, 9]),
                ({"i": {"$gt": 3, "$lte": 7}}, [4, 5, 6, 7]),
                ({"i": {"$gte": 10}, "kind": "note"}, [10, 11]),
                ({"i": {"$lt": 1}}, [0]),
                ({"kind": {"$ne": "note"}}, [0, 3, 6, 9]),
                ({"i": {"$eq": 4}}, [4]),
                ({"text": {"$gt": 9}}, [10, 11]),
                ({"nested": {"i": 3}}, [3]),
                ({"nested": {"i": {"$gt": 10}}}, [11]),
                ({"nested": 3}, []),
                ({"list": [2, 1]}, [2]),
                ({"list": [2]}, []),
                ({"absent": None}, list(range(12))),
                ({"absent": 1}, []),
                ({}, list(range(12))),
            ]:
                self.assertEqual(found(filter=filter), expected, filter)
            with self.assertRaises(ValueError):
                store.search(("docs",), filter={"i": {"$near": 1}})

    def test_namespaces_are_listed_by_prefix_suffix_wildcard_and_depth(self):
        for store in self.each():
            for path in ("a/b/c", "a/b/d/e", "a/b/d/i", "a/b/f", "a/c/f", "b/a/f", "B"):
                for key in "kl":
                    store.put(tuple(path.split("/")), key, {"x": 1})
            for given, expected in [
                ({}, "B a/b/c a/b/d/e a/b/d/i a/b/f a/c/f b/a/f"),
                ({"prefix": ("a", "b"), "max_depth": 3}, "a/b/c a/b/d a/b/f"),
                ({"suffix": ("f",)}, "a/b/f a/c/f b/a/f"),
                ({"prefix": ("a",), "suffix": ("f",)}, "a/b/f a/c/f"),
                ({"prefix": ("*", "b")}, "a/b/c a/b/d/e a/b/d/i a/b/f"),
                ({"suffix": ("b", "*")}, "a/b/c a/b/f"),
                ({"max_depth": 1}, "B a b"),
                ({"limit": 2, "offset": 2}, "a/b/d/e a/b/d/i"),
                ({"prefix": ("a", "b", "c", "d", "e")}, ""),
            ]:
                listed = ["/".join(namespace) for namespace in store.list_namespaces(**given)]
                self.assertEqual(" ".join(listed), expected, given)

    def test_a_batch_reads_before_it_writes_and_of_a_key_writes_only_the_last(self):
        for store in self.each():
            store.put(("n",), "a", {"x": 1})
            results = store.batch(
                [
                    base.GetOp(("n",), "a"),
                    base.PutOp(("n",), "b", {"x": 2}),
                    base.GetOp(("n",), "b"),
                    base.SearchOp(("n",)),
                    base.PutOp(("n",), "a", None),
                    base.PutOp(("n",), "b", {"x": 3}),
                ]
            )
            self.assertEqual(plain([results[0]]), [(("n",), "a", {"x": 1})])
            self.assertEqual(plain(results[3]), [(("n",), "a", {"x": 1})])
            self.assertEqual([results[i] for i in (1, 2, 4, 5)], [None] * 4)
            self.assertEqual(plain(store.search(("n",))), [(("n",), "b", {"x": 3})])
            self.assertEqual(store.batch([]), [])
            with self.assertRaises(ValueError):
                store.batch(["unknown"])

    def test_a_namespace_that_cannot_be_is_refused(self):
        for store in self.each():
            for namespace in ((), ("",), ("a.b",), ("langgraph",)):
                with self.assertRaises(base.InvalidNamespaceError):
                    store.put(namespace, "k", {})

    def test_a_query_finds_first_what_it_is_about(self):
        store = self.stores[0]
        store.put(("memories", "mia"), "food", {"text": "Mia loves pizza with mushrooms"})
        store.put(("memories", "mia"), "work", {"text": "The deployment window of checkout is Tuesday morning"})
        store.put(("memories", "tom"), "food", {"text": "Tom is allergic to peanuts"})
        best = store.search(("memories",), query="Which pizza does Mia love?")[0]
        self.assertEqual((best.namespace, best.key), (("memories", "mia"), "food"))
        self.assertGreater(best.score, 0)
        self.assertEqual(store.search(("memories", "tom"), query="allergic", filter={"text": "none"}), [])

    def test_of_two_that_put_a_new_key_at_once_none_fails(self):
        store = self.stores[0]
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda x: store.put(("race",), "k", {"x": x}), range(4)))
        self.assertEqual(len(store.search(("race",))), 1)

    def test_what_others_wrote_does_not_break_the_store(self):
        store = self.stores[0]
        for name in ("n/k.json", "n/k.md", "k.json"):
            self.client.remember({"type": "definition", "content": "not JSON", "uri": f"{self.root}/{name}"})
        self.assertEqual(plain(store.search(())), [(("n",), "k", {"content": "not JSON"})])
        with self.assertRaises(AnnalsError):
            store.put(("n",), "big", {"text": "x" * 70_000})
        self.assertIsNone(store.get(("n",), "big"))


class AsyncStoreTest(unittest.IsolatedAsyncioTestCase):
    async def test_the_methods_for_asyncio_do_the_same(self):
        store = AnnalsStore(Client(), root=f"viking://resources/langgraph-test/{uuid.uuid4()}")
        await store.aput(("users",), "mia", {"likes": "tea"})
        self.assertEqual((await store.aget(("users",), "mia")).value, {"likes": "tea"})
        self.assertEqual(len(await store.asearch(("users",), query="tea")), 1)


if __name__ == "__main__":
    unittest.main()
