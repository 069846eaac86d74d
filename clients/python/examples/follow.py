"""Follows the log while something happens, and stops at the first event of it."""

import asyncio

from annals import AsyncClient


async def main():
    annals = AsyncClient()
    before = await annals.remember({"type": "strategy", "content": "Deploy on Tuesdays"})
    after = annals.sync.position  # of what this client wrote last
    await annals.forget(before["id"], "this was an example")
    async for event in annals.events({"after": after}, follow=True):
        print(event["position"], event["name"], event["stream"])
        if event["stream"] == f"knowledge:{before['id']}":
            break


asyncio.run(main())
