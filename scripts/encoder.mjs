// Asks a company's questions of a server without a model and of one with it, and fails if the model takes more than it
// may from a category, or does not add to the whole. The model is that of scripts/sentence.mjs, which installs it. The
// arguments are a directory with knowledge.ndjson and queries.ndjson, and the program.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [questions, program] = process.argv.slice(2);
const mostTaken = 0.02; // from the recall of a category
const depth = 10;

const lines = (name) => readFileSync(join(questions, name), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const data = mkdtempSync(join(tmpdir(), 'annals-encoder-'));
const servers = [];

async function ask(url, path, body, type = 'application/json') {
  const answer = await fetch(url + path, body && { method: 'POST', headers: { 'content-type': type }, body });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${said}`);
  return said;
}

// start starts a server, and returns the URL that it prints.
async function start(command, args, env) {
  const server = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(server);
  let said = '';
  return new Promise((started, failed) => {
    server.on('error', failed);
    server.on('exit', () => failed(new Error(`${command} did not start`)));
    server.stdout.on('data', (more) => {
      said += more;
      const found = said.match(/http:[^"\s]*(?=["\n])/);
      if (found) started(found[0]);
    });
  });
}

// serve starts a server with the company's items, and waits until it has every vector.
async function serve(name, settings) {
  const url = await start(program, ['serve', '--json', '--listen', '127.0.0.1:0', '--log-level', 'error'], {
    PATH: process.env.PATH, DATABASE_URL: `sqlite:${data}/${name}.db`, ANNALS_DATA: join(data, name), ...settings,
  });
  await ask(url, '/v1/knowledge', readFileSync(join(questions, 'knowledge.ndjson')), 'application/x-ndjson');
  for (;;) {
    const { items } = JSON.parse(await ask(url, '/v1/projections'));
    if (items.every((p) => !p.lag_events && !p.unindexed)) return url;
    await new Promise((later) => setTimeout(later, 100));
  }
}

// recall is the share of the evidence among the first hits, by category.
async function recall(url) {
  const shares = {};
  for (const q of lines('queries.ndjson').filter((q) => q.evidence?.length)) {
    const search = { query: q.query, limit: depth, min_score: 0.01 };
    if (q.scope) search.context = { project_id: q.scope.split(':')[1] };
    const answer = JSON.parse(await ask(url, '/v1/search', JSON.stringify(search)));
    if (answer.degraded) throw new Error(answer.degraded);
    const ids = answer.items.map((hit) => hit.knowledge.id);
    const share = q.evidence.filter((id) => ids.includes(id)).length / q.evidence.length;
    for (const category of [q.category, 'all']) (shares[category] ??= []).push(share);
  }
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return Object.fromEntries(Object.entries(shares).map(([category, values]) => [category, mean(values)]));
}

try {
  const without = await recall(await serve('without', { ANNALS_EMBEDDING_MODEL: 'words' }));
  const endpoint = await start('node', [join(import.meta.dirname, 'sentence.mjs'), 'serve', '0'], process.env);
  const beside = await recall(await serve('beside', {
    ANNALS_EMBEDDING_URL: endpoint, ANNALS_EMBEDDING_MODEL: 'use-lite',
    ANNALS_EMBEDDING_DIMS: '512',
  }));
  for (const category of Object.keys(without).sort()) {
    const least = category === 'all' ? without.all : without[category] - mostTaken;
    const wrong = beside[category] < least || category === 'all' && beside.all === without.all;
    console.log(`${wrong ? 'FAIL' : 'ok  '} ${category.padEnd(12)} R@${depth} ${without[category].toFixed(3)} without, ` +
      `${beside[category].toFixed(3)} with the model`);
    if (wrong) process.exitCode = 1;
  }
} finally {
  for (const server of servers) server.kill();
  rmSync(data, { recursive: true, force: true });
}
