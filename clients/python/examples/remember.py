"""Remembers something, finds it again, says that it helped, and shows what happened to it."""

from annals import AnnalsError, Client

annals = Client()  # of ANNALS_SERVER, with ANNALS_KEY

item = annals.remember({"type": "strategy", "content": "Retry 429s with jitter", "task": "calling rate-limited APIs"})

for hit in annals.search("how do I call a rate-limited API?")["items"]:
    print(f"{hit['score']:.2f}", hit["knowledge"]["id"], hit["knowledge"]["content"])

judged = annals.feedback(item["id"], {"verdict": "helpful", "outcome": "calls went through"})
print("confidence", judged["eval"]["confidence"])

for event in annals.history(item["id"]):
    print(event["position"], event["name"], event["actor"])

try:
    annals.revise(item["id"], {"content": "", "owner": "nobody"})
except AnnalsError as error:
    for bad in error.errors:
        print(error.status, bad["field"], bad["message"])
annals.forget(item["id"], "this was an example")
