"use strict";
// What can stand at a place of a policy: found by indentation and brackets, and by the schema that the server sends.

const LINE_KEY = /^(\s*(?:- +)*)("[^"]*"|'[^']*'|[^\s#:{}[\],"'][^:{}[\],]*?)\s*:(?=\s|$)/;
const LONGEST_FLOW = 40;

const bare = (key) => key.replace(/^["']|["']$/g, "");
const widthOf = (text) => text.length;

/** Where the position is: the keys on the way, the key whose value it is in (or null), and the word begun there. */
export function placeAt(lines, row, column) {
  const start = flowStart(lines, row, column);
  if (start) {
    const inside = flowPlace(start.text);
    return { path: [...start.path, ...inside.path], key: inside.key, word: inside.word, flow: true };
  }
  const text = lines[row].slice(0, column);
  const found = LINE_KEY.exec(text);
  if (found) {
    const path = [...ancestors(lines, row, widthOf(found[1])), bare(found[2])];
    return { path, key: path[path.length - 1], word: text.slice(found[0].length).trimStart(), flow: false };
  }
  const lead = /^\s*(?:- +)*/.exec(text)[0];
  return { path: ancestors(lines, row, lead.length), key: null, word: text.slice(lead.length), flow: false };
}

/** The keys that a line with so much indentation stands below. */
function ancestors(lines, row, indent) {
  const path = [];
  let limit = indent;
  for (let at = row - 1; at >= 0 && limit > 0; at--) {
    const line = lines[at];
    if (!line.trim() || line.trimStart().startsWith("#")) continue;
    const found = LINE_KEY.exec(line);
    if (found && widthOf(found[1]) < limit) {
      path.unshift(bare(found[2]));
      limit = widthOf(found[1]);
    } else if (!found) {
      limit = Math.min(limit, Math.max(line.search(/\S/), 1));
    }
  }
  return path;
}

/** The text since the brackets that are open at the position, with the keys before them. */
function flowStart(lines, row, column) {
  let text = lines[row].slice(0, column);
  for (let at = row; at >= 0 && row - at < LONGEST_FLOW; at--) {
    if (at < row) text = `${lines[at]}\n${text}`;
    const found = LINE_KEY.exec(lines[at]);
    const item = found ? null : /^(\s*)((?:- +)+)(?=[{[])/.exec(lines[at]);
    if (!found && !item) continue;
    const value = text.slice((found ?? item)[0].length);
    if (!/^\s*[{[]/.test(value) || !isOpen(value)) continue;
    const above = ancestors(lines, at, widthOf((found ?? item)[1]) + (item ? item[2].length : 0));
    return { text: value, path: found ? [...above, bare(found[2])] : above };
  }
  return null;
}

function isOpen(text) {
  let depth = 0;
  for (const character of outsideOfQuotes(text)) depth += "{[".includes(character) - "}]".includes(character);
  return depth > 0;
}

function* outsideOfQuotes(text) {
  let quote = "";
  let last = "{";
  for (const character of text) {
    if (quote) {
      if (character === quote) quote = "";
    } else if (beginsQuote(character, last)) {
      quote = character;
    } else {
      yield character;
    }
    if (/\S/.test(character)) last = character;
  }
}

/** Whether a quoted text begins: a quote in the middle of a word is a character like any other. */
const beginsQuote = (character, last) => (character === '"' || character === "'") && "{[,:".includes(last);

function flowPlace(text) {
  const frames = [];
  let word = "";
  let quote = "";
  let behind = "{";
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    const before = behind;
    if (/\S/.test(character)) behind = character;
    if (quote) {
      if (character === quote) quote = "";
      word += character;
    } else if (beginsQuote(character, before)) {
      quote = character;
      word += character;
    } else if (character === "{" || character === "[") {
      frames.push({ map: character === "{", key: null });
      word = "";
    } else if (character === "}" || character === "]") {
      frames.pop();
      word = "";
    } else if (character === ",") {
      if (frames.length) frames[frames.length - 1].key = null;
      word = "";
    } else if (character === ":" && /\s|$/.test(text[at + 1] ?? " ") && frames.length && frames[frames.length - 1].map) {
      frames[frames.length - 1].key = bare(word.trim());
      word = "";
    } else {
      word += character;
    }
  }
  const path = frames.flatMap((frame) => (frame.key === null ? [] : [frame.key]));
  const last = frames[frames.length - 1];
  const key = last.map ? last.key : (path[path.length - 1] ?? "");
  return { path, key, word: word.trimStart() };
}

/** All schemas that a schema expands to: references followed, alternatives side by side, lists by their items. */
function expanded(node, root, depth = 0) {
  if (!node || typeof node !== "object" || depth > 12) return [];
  const more = (each) => expanded(each, root, depth + 1);
  const found = [{ node, root }];
  if (node.$ref) {
    const [, group, name] = node.$ref.split("/");
    found.push(...more(root[group]?.[name]));
  }
  for (const way of ["anyOf", "oneOf", "allOf"]) for (const each of node[way] ?? []) found.push(...more(each));
  if (node.items && !Array.isArray(node.items)) found.push(...more(node.items));
  return found;
}

function below(found, key) {
  return found.flatMap(({ node, root }) => {
    const own = node.properties?.[key];
    if (own) return expanded(own, root);
    return node.additionalProperties && typeof node.additionalProperties === "object" ? expanded(node.additionalProperties, root) : [];
  });
}

/** The schemas of a place; the parameters of a step or an audit are those of its plugin. */
export function schemasAt(words, path, useOf) {
  let found = expanded(words.definitions.Policy, words);
  for (let at = 0; at < path.length; at++) {
    const group = { steps: "anonymizers", audits: "audits" }[path[0]];
    const plugin = at === 2 && group && path[2] === "with" ? words.plugins[group][useOf(path[0], path[1])] : null;
    found = plugin ? expanded(plugin.with, plugin.with) : below(found, path[at]);
  }
  return found;
}

/** The plugin that a step or an audit of a text uses. */
export function useIn(lines, section, name) {
  const begin = lines.findIndex((line) => line.startsWith(`${section}:`));
  if (begin < 0) return "";
  const at = lines.findIndex((line, row) => row > begin && bare((LINE_KEY.exec(line)?.[2] ?? "").trim()) === name);
  if (at < 0) return "";
  const indent = lines[at].search(/\S/);
  for (let row = at; row < lines.length; row++) {
    if (row > at && lines[row].trim() && lines[row].search(/\S/) <= indent) break;
    const found = /\buse:\s*["']?([\w-]+)/.exec(lines[row]);
    if (found) return found[1];
  }
  return "";
}

/** What can be written at a place: {label, detail, info, key}. `names` are those that the policy has. */
export function choices(words, place, names, useOf) {
  const found = schemasAt(words, place.path, useOf);
  return place.key === null ? keysAt(found, place, names) : valuesAt(found, words, place, names);
}

function keysAt(found, place, names) {
  const options = new Map();
  for (const { node } of found) {
    for (const [name, each] of Object.entries(node.properties ?? {})) {
      if (!options.has(name)) options.set(name, { label: name, info: each.description ?? "", key: true });
    }
  }
  if (!options.size && place.path[0] === "privacy" && found.some(({ node }) => node.additionalProperties)) {
    for (const name of names.attributes ?? []) options.set(name, { label: name, key: true });
  }
  return [...options.values()];
}

function valuesAt(found, words, place, names) {
  const key = place.path[place.path.length - 1];
  const options = new Map();
  const offer = (label, info = "") => options.has(label) || options.set(label, { label, info, key: false });
  for (const { node } of found) {
    const values = [...(node.enum ?? []), ...("const" in node ? [node.const] : [])];
    for (const value of values) if (value !== null) offer(String(value));
    if (node.type === "boolean") ["true", "false"].forEach((each) => offer(each));
  }
  if (place.word.startsWith("$")) for (const name of names.params ?? []) offer(`\${params.${name}}`);
  const plugins = pluginsFor(words, place.path, key);
  for (const [name, each] of Object.entries(plugins)) offer(name, each.about);
  if (["from", "input"].includes(key)) ["source", ...(names.steps ?? [])].forEach((each) => offer(each));
  else if (key === "template" || key === "extends") (words.templates ?? []).forEach((each) => offer(each));
  else if (!options.size && ["privacy", "steps", "audits", "analyses", "ledger"].includes(place.path[0])) {
    (names.attributes ?? []).forEach((each) => offer(each));
  }
  return [...options.values()];
}

function pluginsFor(words, path, key) {
  if (key === "use") return words.plugins[{ steps: "anonymizers", audits: "audits" }[path[0]]] ?? {};
  if (key === "format") return words.plugins[path[0] === "releases" ? "sinks" : "sources"];
  return {};
}
