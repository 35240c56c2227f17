'use strict';
// The report's data, in the tables of the document (see walker/report/report_tables.h).

const report = JSON.parse(document.getElementById('data').textContent);
const {strings, frames, nodes} = report;
const recording = report.recording ?? null;
const dumps = report.dumps ?? [];
const compared = report.compared ?? null;  // two recordings: before, after

const FLAG = {scanned: 1, framePointer: 2, approximate: 4, inlined: 8};

// For each node its caller, or -1 for a root. A caller comes before its callees.
const parents = Int32Array.from(nodes.up, (up, i) => (up === 0 ? -1 : i - up));
const depths = new Int32Array(parents.length);
parents.forEach((parent, i) => { depths[i] = parent < 0 ? 1 : depths[parent] + 1; });

// What the thread of a sample did, by the numbers in the data (walker/model/standing.h). [1] and [2] wait.
const STANDINGS = ['unknown', 'waits', 'idle', 'runs'];
const waits = (standing) => standing === 1 || standing === 2;

const labels = frames.label.map((label) => readable(strings[label]));
const moduleNames = frames.module.map((module) => readable(strings[module]));

// The frames of a stack, leaf first, as indices into `frames`. There are none for the node -1.
function stackOf(leaf) {
  const stack = [];
  for (let node = leaf; node >= 0; node = parents[node]) stack.push(nodes.frame[node]);
  return stack;
}

// For each frame a number of its function, by kind and label.
const functionOf = new Int32Array(labels.length);
let functions = 0;
{
  const known = new Map();
  frames.label.forEach((label, i) => {
    const key = frames.kind[i] + label;
    if (!known.has(key)) known.set(key, functions++);
    functionOf[i] = known.get(key);
  });
}
// For each node the first node whose stack has the same functions, even at other places in them.
const alikes = new Int32Array(parents.length);
{
  const known = new Map();
  parents.forEach((parent, i) => {
    const key = (parent < 0 ? 0 : alikes[parent] + 1) * functions + functionOf[nodes.frame[i]];
    if (!known.has(key)) known.set(key, i);
    alikes[i] = known.get(key);
  });
}
// The caller of a node among the nodes that stand for all that are alike.
const alikeParent = (node) => (parents[node] < 0 ? -1 : alikes[parents[node]]);

// Given for each frame whether it fits, this says for each node whether a frame on its stack fits. A caller's node
// comes first.
function nodesWith(fits) {
  const found = new Uint8Array(parents.length);
  for (let i = 0; i < found.length; ++i) {
    found[i] = fits[nodes.frame[i]] || (parents[i] >= 0 && found[parents[i]]) ? 1 : 0;
  }
  return found;
}

// Marks the frames whose label, module or file contains the text; all frames if the text is empty.
function framesWith(text) {
  const wanted = text.toLowerCase();
  return lowerLabels().map((label) => label.includes(wanted));
}
let lower = null, lowerNames = null;
// Marks the frames whose label contains the text, which is in lower case.
function framesNamed(text) {
  lowerNames ??= labels.map((label) => label.toLowerCase());
  return Uint8Array.from(lowerNames, (label) => label.includes(text));
}
function lowerLabels() {
  lower ??= labels.map((label, i) => `${label} ${moduleNames[i]} ${strings[frames.file[i]]}`.toLowerCase());
  return lower;
}

// A name in a form that a page may show. Characters that move or hide text (controls, direction marks) are written as
// escapes, and a name of thousands of characters is cut. walker/base/printable.h does the same for terminals.
function readable(text) {
  const MOST = 1000;
  const cut = text.length > MOST ? text.slice(0, MOST).replace(/[\ud800-\udbff]$/, '') + '…' : text;
  return cut.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
