import asyncio
import os
import threading
import time
import unittest
import uuid
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

from annals import AnnalsError, AsyncClient, Client


def word():
    return "w" + uuid.uuid4().hex


class Stub:
    """Answers requests one after the other, as if it were the server, until the test ends."""

    def __init__(self, test, *answers):
        self.seen = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                stub.seen.append((self.path, dict(self.headers)))
                answers[min(len(stub.seen), len(answers)) - 1](self)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)


def say(status, text, **headers):
    def answer(request):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(text.encode())

    return answer


def busy(status, after):
    return say(status, '{"type":"urn:annals:problem:busy","title":"busy","status":%d}' % status, Retry_After=after)


def silent(request):
    time.sleep(1)


def dripping(request):
    request.send_response(200)
    request.end_headers()
    try:
        for _ in range(20):
            request.wfile.write(b" ")
            time.sleep(0.05)
    except ConnectionError:
        pass  # the client has left


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.annals = Client()

    def refused(self, status, pattern, call, *args):
        with self.assertRaisesRegex(AnnalsError, pattern) as caught:
            call(*args)
        self.assertEqual(caught.exception.status, status)
        return caught.exception

    def test_an_item_is_remembered_found_judged_revised_and_forgotten(self):
        annals, about = self.annals, word()
        item = annals.remember(
            {"type": "strategy", "content": f"Retry {about} with jitter", "task": "calling rate-limited APIs"}
        )
        id = item["id"]
        self.assertEqual(annals.search({"query": about, "limit": 1})["items"][0]["knowledge"]["id"], id)
        self.assertIn(about, annals.context({"stage": "query", "query": about})["injection"])
        judged = annals.feedback(id, {"verdict": "helpful", "outcome": "calls went through"})
        self.assertEqual(judged["eval"]["helpful"], 2)
        self.assertEqual(annals.stale(id, "the gateway retries now")["stale"]["reporters"], 1)
        self.assertEqual(annals.revise(id, {"content": f"Do not retry {about}", "reason": "it does"})["revision"], 2)
        self.assertEqual(annals.find(id)["content"], f"Do not retry {about}")
        self.assertEqual([one["id"] for one in annals.list({"id": [id]})], [id])
        self.assertIsNone(annals.forget(id, "tried"))
        self.assertEqual(
            [event["name"] for event in annals.history(id)],
            ["knowledge." + did for did in ("remembered", "found_helpful", "reported_stale", "revised", "deleted")],
        )
        self.assertGreater(annals.position, 0)

    def test_an_error_has_every_bad_field_and_what_to_do(self):
        bad = {"type": "strategy", "content": "", "owner": "nobody", "scopes": ["x"]}
        refused = self.refused(422, "owner .*content|content .*owner", self.annals.remember, bad)
        self.assertEqual(sorted(bad["field"] for bad in refused.errors), ["content", "owner", "scopes[0]"])
        self.refused(404, "", self.annals.find, "not-there")
        self.assertTrue(self.refused(401, "", Client(key="annals_wrong").search, "x").fix)

    def test_a_write_is_repeated_without_effect_under_its_key(self):
        item, key = {"type": "strategy", "content": word()}, str(uuid.uuid4())
        ids = {self.annals.remember(item, idempotency_key=key)["id"] for _ in range(2)}
        self.assertEqual(len(ids), 1)

    def test_any_operation_can_be_called(self):
        page = self.annals.request("/v1/knowledge", "get", query={"limit": 1, "type": ["strategy", "tool"], "stale": False})
        self.assertLessEqual(len(page["items"]), 1)
        self.assertTrue(self.annals.request("/v1/whoami", "get")["subject"])

    def test_events_are_read_in_pages_and_followed(self):
        annals = self.annals
        annals.remember({"type": "strategy", "content": word()})
        start = annals.position
        kept = [annals.remember({"type": "strategy", "content": word()})["id"] for _ in range(3)]
        read = list(annals.events({"after": start, "order": "asc", "limit": 2, "name": ["knowledge.remembered"]}))
        self.assertEqual([event["stream"] for event in read], [f"knowledge:{id}" for id in kept])
        followed = annals.events({"after": start}, follow=True)
        remembered = (event for event in followed if event["name"] == "knowledge.remembered")
        for id in kept:
            self.assertEqual(next(remembered)["stream"], f"knowledge:{id}")
        late = annals.remember({"type": "strategy", "content": "偏好 late"})["id"]
        self.assertEqual(next(remembered)["stream"], f"knowledge:{late}")
        followed.close()

    def test_a_stream_that_breaks_off_continues_after_its_last_event(self):
        def send(id):
            return say(200, f'retry: 2000\n: following\n\nid: {id}\ndata: {{"event_id":"{id}"}}\n\nid: lost\nda')

        stub = Stub(self, send("a"), busy(503, "0"), send("b"))
        followed = Client(stub.url).events({"after": 7}, follow=True)
        self.assertEqual([next(followed)["event_id"], next(followed)["event_id"]], ["a", "b"])
        self.assertEqual(stub.seen[0][0], "/v1/events?after=7")
        self.assertEqual(stub.seen[2][1]["Last-Event-ID"], "a")
        followed.close()

    def test_a_busy_server_is_asked_again_with_the_same_key_not_for_ever_and_not_after_long(self):
        patient = Stub(self, busy(429, "0"), busy(503, "0"), say(200, '{"items":[]}'))
        Client(patient.url).search("x")
        self.assertEqual(len({headers["Idempotency-Key"] for _, headers in patient.seen}), 1)
        never = Stub(self, busy(429, "0"))
        self.refused(429, "busy", Client(never.url, retries=1).search, "x")
        self.assertEqual(len(never.seen), 2)
        tomorrow = Stub(self, busy(503, "86400"))
        self.refused(503, "busy", Client(tomorrow.url).search, "x")
        self.assertEqual(len(tomorrow.seen), 1)

    def test_a_busy_server_may_name_a_date(self):
        dated = Stub(self, busy(503, formatdate(time.time() + 2, usegmt=True)), say(200, '{"items":[]}'))
        began = time.monotonic()
        Client(dated.url).search("x")
        self.assertGreater(time.monotonic() - began, 0.5)
        self.assertEqual(len(dated.seen), 2)
        later = Stub(self, busy(503, formatdate(time.time() + 5, usegmt=True)))
        self.refused(503, "busy", Client(later.url, timeout=1).search, "x")

    def test_a_list_whose_cursor_repeats_ends_with_an_error(self):
        endless = Stub(self, say(200, '{"items":[{"id":"a"}],"next_cursor":"same"}'))
        self.refused(200, "repeats a cursor", list, Client(endless.url).list())
        self.assertEqual(len(endless.seen), 2)

    def test_no_answer_is_one_clear_error(self):
        gone = Client("http://127.0.0.1:1")
        self.refused(0, r"^No server answers at http://127\.0\.0\.1:1 .*Start it with: annals serve", gone.search, "x")
        self.refused(0, "No server answers", next, gone.events(follow=True))
        for url in ("localhost:1933", "http://", "http://x:port"):
            with self.assertRaisesRegex(ValueError, "url must begin with http"):
                Client(url)
        with self.assertRaisesRegex(ValueError, "^key must consist of"):
            Client(key="annals_钥匙")
        self.refused(0, r"did not answer within 0\.1 s", Client(Stub(self, silent).url, timeout=0.1).search, "x")
        self.refused(0, r"did not answer within 0\.3 s", Client(Stub(self, dripping).url, timeout=0.3).search, "x")
        for lost in (lambda request: request.connection.close(), say(200, "{", Content_Length="9")):
            self.refused(0, "may have been executed.*idempotency_key", Client(Stub(self, lost).url).search, "x")

    def test_an_answer_of_somebody_else_is_named_as_such(self):
        proxy = Stub(self, say(502, "<h1>Bad gateway</h1>"))
        self.refused(502, "^502 Bad Gateway: <h1>Bad gateway</h1>$", Client(proxy.url).search, "x")
        site = Stub(self, say(200, "<html>"))
        self.refused(200, "did not answer with JSON.*address of an Annals server", Client(site.url).search, "x")
        elsewhere = Stub(self, say(307, "", Location="http://127.0.0.1:1/login?token=secret"))
        self.refused(307, "^307 Temporary Redirect: it redirects to http://127.0.0.1:1/login$", Client(elsewhere.url).search, "x")

    def test_a_key_of_the_environment_goes_to_the_server_there(self):
        key = {"ANNALS_KEY": "of-that-server"}
        for there, sent in [("http://127.0.0.1:1", False), ("https://127.0.0.1", False), ("", True), ("{}/base", True)]:
            stub = Stub(self, say(200, '{"items":[]}'))
            with mock.patch.dict(os.environ, {**key, "ANNALS_SERVER": there.format(stub.url)}):
                Client(stub.url).search("x")
                Client(stub.url, "its-own").search("x")
            self.assertEqual("Authorization" in stub.seen[0][1], sent, there)
            self.assertEqual(stub.seen[1][1]["Authorization"], "Bearer its-own")


class AsyncClientTest(unittest.IsolatedAsyncioTestCase):
    async def test_the_methods_are_those_of_the_client(self):
        annals, about = AsyncClient(), word()
        id = (await annals.remember({"type": "strategy", "content": about}))["id"]
        found, answer = await asyncio.gather(annals.find(id), annals.search({"query": about, "limit": 1}))
        self.assertEqual((found["content"], answer["items"][0]["knowledge"]["id"]), (about, id))
        self.assertIn(about, (await annals.context({"stage": "query", "query": about}))["injection"])
        self.assertEqual((await annals.feedback(id, {"verdict": "harmful"}))["eval"]["harmful"], 1)
        self.assertEqual((await annals.stale(id, "gone"))["stale"]["reporters"], 1)
        self.assertEqual((await annals.revise(id, {"content": "new"}))["revision"], 2)
        self.assertIsNone(await annals.forget(id, "tried"))
        self.assertEqual(len([event async for event in annals.history(id)]), 5)
        self.assertEqual([item async for item in annals.list({"id": [id]})], [])
        self.assertTrue((await annals.request("/v1/whoami", "get"))["subject"])
        with self.assertRaises(AnnalsError):
            await annals.find("not-there")
        public = {name for name in dir(Client) if not name.startswith("_")}
        self.assertEqual({name for name in dir(AsyncClient) if not name.startswith("_")}, public)

    async def test_a_stream_is_followed_and_left(self):
        annals = AsyncClient()
        id = (await annals.remember({"type": "strategy", "content": word()}))["id"]
        read = [event async for event in annals.events({"after": annals.sync.position - 1})]
        async for event in annals.events({"after": annals.sync.position - 1}, follow=True):
            self.assertEqual((event["stream"], event), (f"knowledge:{id}", read[0]))
            break
        waiting = asyncio.ensure_future(annals.events({"trace_id": word()}, follow=True).__anext__())
        await asyncio.sleep(0.2)
        began = time.monotonic()
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        await asyncio.get_running_loop().shutdown_default_executor()  # no thread is left reading
        self.assertLess(time.monotonic() - began, 12)


if __name__ == "__main__":
    unittest.main()
