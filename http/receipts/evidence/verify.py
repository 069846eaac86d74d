#!/usr/bin/env python3
"""Verifies a file of evidence of Annals. It needs Python 3.8 or newer and nothing else, and no network.

    python3 verify.py                      in the folder in which the evidence was unpacked
    python3 verify.py evidence.zip
    python3 verify.py evidence.zip --key annals+6d1a0b3c+AfK...

The key says who signed the log. The file brings it along; name one that you got in another way, as
annals proof key prints it. Exit code 0: everything is as it was recorded. 1: something is not, and is named.
2: the evidence cannot be read.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import zipfile

FAILURES = []


def fail(where, what):
    FAILURES.append(where + ": " + what)


# Ed25519, as RFC 8032 describes it.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(n, point):
    sum = (0, 1, 1, 0)
    while n:
        if n & 1:
            sum = add(sum, point)
        point, n = add(point, point), n >> 1
    return sum


def point_of(text):
    y = int.from_bytes(text, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signed(key, message, signature):
    if len(signature) != 64:
        return False
    a, r = point_of(key), point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    left, right = times(s, BASE), add(r, times(h, a))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


# Signed notes: a text, an empty line, and lines with the name of the key and the signature.


class Key:
    def __init__(self, line):
        self.line = line.strip()
        self.name, self.number, key = self.line.split("+", 2)
        raw = base64.b64decode(key)
        if len(raw) != 33 or raw[0] != 1:
            raise ValueError("it is no key of Ed25519")
        self.bytes = raw[1:]
        if hashlib.sha256(self.name.encode() + b"\n" + raw).hexdigest()[:8] != self.number:
            raise ValueError("it is damaged")

    def open(self, note):
        """The text of a note that the key signed; None if it did not."""
        text, _, lines = note.rpartition("\n\n")
        text += "\n"
        for line in lines.split("\n"):
            parts = line.split(" ")
            if len(parts) == 3 and parts[0] == "\u2014" and parts[1] == self.name:
                raw = base64.b64decode(parts[2])
                if raw[:4].hex() == self.number and signed(self.bytes, text.encode(), raw[4:]):
                    return text
        return None


# Merkle trees, as RFC 6962 describes them.


def leaf_of(data):
    return hashlib.sha256(b"\0" + data).digest()


def root_of(leaf, index, size, path):
    """The root that a path leads to from a leaf; None if it is not of this tree."""
    if not 0 <= index < size:
        return None
    hash, last, path = leaf, size - 1, list(path)
    while last > 0:
        if index & 1 or index == last:
            if index & 1:
                if not path:
                    return None
                hash = hashlib.sha256(b"\1" + path.pop(0) + hash).digest()
            else:
                while not index & 1 and index:
                    index, last = index >> 1, last >> 1
                if index & 1:
                    if not path:
                        return None
                    hash = hashlib.sha256(b"\1" + path.pop(0) + hash).digest()
        else:
            if not path:
                return None
            hash = hashlib.sha256(b"\1" + hash + path.pop(0)).digest()
        index, last = index >> 1, last >> 1
    return None if path else hash


# Events.

FIELDS = (
    "tenant position event_id stream version name schema_version recorded_at occurred_at actor on_behalf_of "
    "authentication request_id correlation_id causation_id traceparent reason_code data text_commitment"
).split()


def hash_of(record):
    """The hash of an event: of its fields, each with its length."""
    encoded = b"annals event 1\n"
    for field in FIELDS:
        value = record.get(field)
        if value is None:
            encoded += b"\0"
            continue
        if field == "text_commitment":
            value = bytes.fromhex(value)
        elif isinstance(value, int):
            value = str(value).encode()
        else:
            value = value.encode()
        encoded += b"\1" + len(value).to_bytes(8, "big") + value
    return hashlib.sha256(encoded).digest()


def check_event(where, event, key, checkpoints, tenant):
    record, note = event["record"], event["checkpoint"]["note"]
    hash = hash_of(record)
    if hash.hex() != event["hash"] or hash.hex() != record["hash"]:
        fail(where, "the event is not the one with its hash")
    for field in ("event_id", "stream", "position"):
        if event[field] != record[field]:
            fail(where, field + " differs from the record")
    if record["tenant"] != tenant:
        fail(where, "it is of another tenant")
    if record.get("text") is not None:
        mac = hmac.new(bytes.fromhex(record.get("salt") or ""), record["text"].encode(), hashlib.sha256)
        if mac.hexdigest() != record.get("text_commitment"):
            fail(where, "its text is not the one that was recorded")
    if note not in checkpoints:
        checkpoints[note] = key.open(note)
    text = checkpoints[note]
    if text is None:
        fail(where, "the checkpoint is not signed by the key")
        return
    origin, size, root, _ = text.split("\n")
    if origin != key.name + "/" + tenant:
        fail(where, "the checkpoint is of another log, " + origin)
    path = [base64.b64decode(part) for part in event["path"]]
    if root_of(leaf_of(hash), record["position"] - 1, int(size), path) != base64.b64decode(root):
        fail(where, "the log that was signed does not have it at its position")


# Receipts.


def dump(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode()


def stripped(answer, histories):
    """An answer without ids and wordings, as it was digested or sealed."""
    form = {name: value for name, value in answer.items() if histories == "begin" or name != "answer"}
    form["items"] = []
    for item in answer["items"]:
        one = {name: value for name, value in item.items() if name not in ("id", "wording", "certificate", "hidden")}
        if histories == "begin":
            one["history"] = one["history"][:8]
        form["items"].append(one)
    return form


def check_receipt(where, raw, proof, events, streams):
    answer = json.loads(raw.decode())
    if hashlib.sha256(dump(stripped(answer, "whole"))).hexdigest()[:32] != answer["answer"]:
        fail(where, "the answer is not the one that was given")
    for number, item in enumerate(answer["items"], 1):
        check_item(where + ", item " + str(number), item, events, streams)
    question = proof.get("question")
    if question and hashlib.sha256(bytes.fromhex(question["salt"]) + question["text"].encode()).hexdigest()[:32] != answer.get("question"):
        fail(where, "the question is not the one that was asked")
    if "seal" not in proof:
        return False
    check_seal(where, answer, proof["seal"], events)
    return True


def check_item(where, item, events, streams):
    first = events.get(item["number"])
    if first is None or item.get("id") and first["stream"] != "knowledge:" + item["id"]:
        fail(where, "the log has another item at position " + str(item["number"]))
        return
    history, content, task, kept = bytes(32), None, None, True
    for version in range(1, item["version"] + 1):
        record = streams[first["stream"]].get(version)
        if record is None:
            fail(where, "event " + str(version) + " of the item is missing")
            return
        history = hashlib.sha256(history + hash_of(record)).digest()
        if record.get("text") is None:
            kept = kept and record.get("text_commitment") is None
            continue
        text = json.loads(record["text"])
        if record["name"] in ("knowledge.remembered", "knowledge.revised"):
            content, task = text.get("content", content), text.get("task", task)
    if history.hex() != item["history"]:
        fail(where, "the history of the item is not the one that was given")
    wording = item.get("wording")
    if wording is None or not kept:
        return
    if item["level"] == 2 and content is not None and wording["content"] != content:
        fail(where, "the wording is not what the log says")
    if (task or "") != wording.get("task", ""):
        fail(where, "the task is not what the log says")


def check_seal(where, answer, seal, events):
    record = seal["record"].encode()
    if record != dump(stripped(answer, "begin")):
        fail(where, "the receipt that was sealed is another one")
    event = events.get(seal["position"])
    if event is None or event["name"] != "receipts.sealed":
        fail(where, "the event that seals it is missing")
        return
    run, sequence = answer["receipt"][1:].split("-")
    if event["stream"] != "receipts:" + run:
        fail(where, "the seal is of another run")
    data = json.loads(event["data"])
    if not data["first"] <= int(sequence) <= data["last"]:
        fail(where, "the seal does not cover its number")
    path = [base64.b64decode(part) for part in seal["path"]]
    if root_of(leaf_of(record), seal["index"], data["count"], path) != base64.b64decode(data["root"]):
        fail(where, "it is not as it was sealed")


# The file.


def folder(path):
    names = {}
    for at, _, files in os.walk(path):
        for name in files:
            whole = os.path.join(at, name)
            if "__pycache__" not in whole and os.path.abspath(whole) != os.path.abspath(path + ".zip"):
                names[os.path.relpath(whole, path).replace(os.sep, "/")] = whole

    def read(name):
        with open(names[name], "rb") as file:
            return file.read()

    return set(names), read


def archive(path):
    file = zipfile.ZipFile(path)
    names = file.namelist()
    if len(names) != len(set(names)):
        fail(path, "a file is in it twice")
    return set(names), file.read


def check_files(names, read, manifest):
    for name in sorted(names - set(manifest["files"]) - {"manifest.json", "manifest.sig"}):
        fail(name, "it does not belong to the evidence")
    for name, sum in sorted(manifest["files"].items()):
        if name not in names:
            fail(name, "it is missing")
        elif hashlib.sha256(read(name)).hexdigest() != sum:
            fail(name, "it was changed")


def check(names, read, trusted):
    key = Key(trusted or read("key.pub").decode())
    if trusted and read("key.pub").decode().strip() != key.line:
        fail("key.pub", "it is another key than the one that you named")
    raw = read("manifest.json")
    manifest = json.loads(raw.decode())
    expected = "annals evidence 1\n" + hashlib.sha256(raw).hexdigest() + "\n"
    if key.open(read("manifest.sig").decode()) != expected:
        fail("manifest.json", "it is not what the key signed")
    check_files(names, read, manifest)
    checkpoints, events, streams = {}, {}, {}
    for name in sorted(manifest["files"]):
        if name.startswith("events/") and name in names:
            event = json.loads(read(name).decode())
            check_event(name, event, key, checkpoints, manifest["tenant"])
            record = event["record"]
            events[record["position"]] = record
            streams.setdefault(record["stream"], {})[record["version"]] = record
    receipts = sealed = 0
    for name in sorted(manifest["files"]):
        if name.startswith("receipts/") and name in names:
            proof = "proofs/" + name.split("/")[1]
            receipts += 1
            if proof not in names:
                fail(proof, "it is missing")
                continue
            sealed += check_receipt(name, read(name), json.loads(read(proof).decode()), events, streams)
    print("key          " + key.line + ("" if trusted else "   (from the file: compare it with one from elsewhere)"))
    print("log          " + key.name + "/" + manifest["tenant"])
    print("files        " + str(len(manifest["files"])) + ", signed together")
    print("events       " + str(len(events)) + ", each in the log that was signed, " + str(len(checkpoints)) + " signed checkpoints")
    print("receipts     " + str(receipts) + ", of which " + str(sealed) + " are sealed")
    for gap in manifest.get("gaps") or []:
        print("gap          " + gap)


def main(arguments):
    trusted = None
    if "--key" in arguments:
        at = arguments.index("--key")
        trusted = arguments[at + 1]
        if os.path.isfile(trusted):
            with open(trusted) as file:
                trusted = file.read().split()[0]
        del arguments[at : at + 2]
    path = arguments[0] if arguments else os.path.dirname(os.path.abspath(__file__))
    try:
        names, read = folder(path) if os.path.isdir(path) else archive(path)
    except (OSError, zipfile.BadZipFile) as error:
        print("the evidence cannot be read: " + str(error), file=sys.stderr)
        return 2
    try:
        check(names, read, trusted)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, zipfile.BadZipFile) as error:
        fail("the evidence", "it is damaged: " + type(error).__name__ + ": " + str(error))
    for failure in FAILURES:
        print("NOT VERIFIED " + failure)
    if FAILURES:
        return 1
    print("verified     everything is as it was recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
