// Uses a server as an MCP host does, with the client from npm: at /mcp, and through a process of annals mcp.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [server, program] = process.argv.slice(2);
const installed = createRequire(path.resolve(".tools/npm/package.json"));
const load = (name) => import(pathToFileURL(installed.resolve(`@modelcontextprotocol/${name}`)));
const older = { ...(await load("sdk/client/index.js")), ...(await load("sdk/client/streamableHttp.js")), ...(await load("sdk/client/stdio.js")) };
const newer = { ...(await load("client")), ...(await load("client/stdio")) }; // of the second major version
newer.options = { versionNegotiation: { mode: "auto" } };

const transports = {
  http: (sdk) => new sdk.StreamableHTTPClientTransport(new URL(`${server}/mcp?aliases=true`)),
  stdio: (sdk) => new sdk.StdioClientTransport({ command: program, args: ["mcp", "--aliases", "--server", server], stderr: "inherit" }),
};
const hosts = Object.entries({ older, newer }).flatMap(([age, sdk]) =>
  Object.entries(transports).map(([kind, transport]) => [`${kind}-${age}`, sdk, transport]));

for (const [name, sdk, transport] of hosts) {
  const host = new sdk.Client({ name: "npm", version: "1" }, sdk.options);
  await host.connect(transport(sdk));
  const call = async (tool, args = {}) => {
    const result = await host.callTool({ name: tool, arguments: args });
    assert.ok(result.content[0].text.length > 0);
    return result;
  };
  const ok = async (tool, args) => {
    const { structuredContent: said } = await call(tool, args);
    assert.equal(said.status, "ok", JSON.stringify(said));
    return said.data;
  };

  const { tools } = await host.listTools(); // from here on the client checks results by their schemas
  for (const tool of ["retrieve_memory", "remember", "forget_memory", "openviking_retrieve_memory", "memory_search"]) {
    assert.ok(tools.some((t) => t.name === tool), tool);
  }
  const word = `heliotrope-${name}`;
  const { uri } = await ok("remember", { content: `Prefers ${word} accents 偏好`, category: "preferences" });
  const found = await ok("retrieve_memory", { query: word, category: "preferences", limit: 1 });
  assert.equal(found.results[0].uri, uri);
  const alias = await call("openviking_retrieve_memory", { query: word });
  assert.deepEqual(JSON.parse(alias.content[0].text), alias.structuredContent);
  assert.equal((await ok("give_feedback", { uri, verdict: "helpful" })).helpful, 2);
  assert.ok((await ok("report_stale_memory", { uri, reason: "changed" })).confidence < 0.5);
  const { resources } = await host.listResources();
  assert.ok(resources.some((r) => r.uri === uri));
  const { contents } = await host.readResource({ uri });
  assert.match(contents[0].text, new RegExp(word));
  const { messages } = await host.getPrompt({ name: "start_session", arguments: {} });
  assert.match(messages[0].content.text, new RegExp(word));
  await ok("forget_memory", { uri, reason: "tried" });
  const history = await ok("memory_history", { uri: found.results[0].id });
  assert.equal(history.events.at(-1).name, "knowledge.deleted");
  const refused = await call("get_knowledge", { uri });
  assert.ok(refused.isError);
  assert.equal(refused.structuredContent.error.code, "NOT_FOUND");
  await host.close();
  console.log(`${name}: ${tools.length} tools, as an MCP host uses them: ok`);
}
