// Searches the index of news_digest.channels.site.search in the browser; works from a disk, where only scripts load.
"use strict";

const MOST = 25;
const files = new Map();
const waiting = new Map();

// Every file of the index calls this with its name and what it holds.
window.nd = (name, value) => files.set(name, value);

function load(name, otherwise) {
  if (files.has(name)) return Promise.resolve(files.get(name));
  if (!waiting.has(name)) {
    waiting.set(name, new Promise((done) => {
      const script = document.createElement("script");
      script.src = "search/" + name + ".js";
      script.onload = () => done(files.has(name) ? files.get(name) : otherwise);
      script.onerror = () => done(otherwise);
      document.head.append(script);
    }));
  }
  return waiting.get(name);
}

const CJK = "\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff";
const WORD = new RegExp("[" + CJK + "]|(?:(?![" + CJK + "])[\\p{L}\\p{N}])+", "gu");

function wordsOf(text, skip) {
  const plain = text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  return (plain.match(WORD) || []).map((word) => Array.from(word).slice(0, 32).join("")).filter((word) => !skip.has(word));
}

function shardOf(word) {
  const first = Array.from(word).slice(0, 2);
  if (first.every((character) => character < "\u0080")) return first.join("").padEnd(2, "_");
  return "u" + String(first[0].codePointAt(0) % 64).padStart(2, "0");
}

async function placesOf(year, words) {
  let found = null;
  for (const word of words) {
    const shard = await load(year + "/" + shardOf(word), {});
    const places = new Set();
    for (const known of Object.keys(shard)) {
      if (known.startsWith(word)) for (const place of shard[known]) if (!found || found.has(place)) places.add(place);
    }
    found = places;
    if (!found.size) break;
  }
  return Array.from(found || []).sort((a, b) => b - a);
}

async function find(query) {
  const meta = await load("meta", { years: [], skip: [] });
  const words = Array.from(new Set(wordsOf(query, new Set(meta.skip)))).slice(0, 8);
  if (!words.length) return { said: query.trim() ? "Type a word that is not a very common one." : "", hits: [] };
  const places = [];
  for (const year of meta.years) {
    for (const place of await placesOf(year, words)) places.push([year, place]);
    if (places.length > MOST) break;
  }
  const hits = await Promise.all(places.slice(0, MOST).map(async ([year, place]) => {
    const day = new Date(Date.UTC(year, 0, Math.floor(place / 1000))).toISOString().slice(0, 10);
    const items = await load("days/" + day, []);
    return [day, place % 1000, items[place % 1000]];
  }));
  return { said: said(places.length), hits: hits.filter((hit) => hit[2]) };
}

function said(count) {
  if (count > MOST) return "The newest " + MOST + " of more; another word narrows it down.";
  return count === 0 ? "Nothing found." : count === 1 ? "1 item found." : count + " items found, newest first.";
}

function element(name, text, attributes) {
  const made = Object.assign(document.createElement(name), attributes || {});
  made.textContent = text;
  return made;
}

function show(found) {
  document.getElementById("said").textContent = found.said;
  document.getElementById("results").replaceChildren(...found.hits.map(([day, number, [headline, text, source]]) => {
    const line = document.createElement("li");
    const about = element("p", "", { className: "sources" });
    about.append(element("time", day, { dateTime: day }), source && " · " + source);
    line.append(element("a", headline, { href: day + ".html#i" + number }), element("p", text), about);
    return line;
  }));
}

let latest = 0;
async function run(query) {
  const mine = ++latest;
  const found = await find(query);
  if (mine === latest) show(found);
}

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("find");
  const box = document.getElementById("q");
  const asked = new URLSearchParams(location.search).get("q") || "";
  let pause = 0;
  box.value = asked;
  if (asked) run(asked);
  form.addEventListener("submit", (event) => { event.preventDefault(); run(box.value); });
  box.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(run, 150, box.value); });
});
