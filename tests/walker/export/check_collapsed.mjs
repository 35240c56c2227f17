// Checks folded stacks, by the grammar from which flame graphs are made, and by speedscope itself.
// usage: check_collapsed.mjs WRITE_EXPORT NODE_MODULES

import fs from 'node:fs';

import {Exports, expect_equal, finish, fold, labels, problems} from './facts.mjs';
import {close_speedscope, open_in_speedscope, weights_by_stack} from './speedscope_app.mjs';

const [program, modules] = process.argv.slice(2);
const exports_ = new Exports(program);

// A line is frames between `;`, one space, digits. Nothing else that could end a line or a frame may be there: control
// characters, line separators, bytes that are not UTF-8.
function folded(file) {
  const text = new TextDecoder('utf8', {fatal: true}).decode(fs.readFileSync(file));
  if (text && !text.endsWith('\n')) problems.push(`${file}: the last line has no end`);
  const sums = new Map();
  for (const line of text.split('\n').slice(0, -1)) {
    const parts = /^([^\p{Cc}\u2028\u2029]+) (\d+)$/u.exec(line);
    if (!parts || parts[1].split(';').includes('')) problems.push(`no folded stack: ${line}`);
    else if (sums.has(parts[1])) problems.push(`two lines of one stack: ${line}`);
    else sums.set(parts[1], Number(parts[2]));
  }
  return sums;
}

const hex = (c, digits) => c.codePointAt(0).toString(16).padStart(digits, '0');
const escaped = (label) =>
    label.replace(/[;\x00-\x1f\x7f]/g, (c) => `\\x${hex(c, 2)}`)
        .replace(/[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
                 (c) => `\\u${hex(c, 4)}`);

function annotated(facts, sample) {
  const marks = sample.frames.map((frame) => frame.inline_depth ? '_[i]' :
                                             frame.kind === 'managed' ? '_[j]' : '').reverse();
  return labels(facts, sample).map((label, i) => escaped(label) + (marks[i] ?? ''));
}

for (const recording of ['representative', 'sqlite', 'exception', 'class-load', 'module-load', 'dump', 'overloads', 'no-exception', 'empty']) {
  const facts = exports_.facts(recording);
  if (!facts.samples.length) {
    for (const format of ['collapsed', 'collapsed-plain']) {
      const file = exports_.file(recording, format);
      expect_equal(folded(file), new Map([['[no samples]', 0]]), `${recording}, ${format}`);
      const {saved} = await open_in_speedscope(modules, file);
      expect_equal(saved.profiles.map(({events}) => events), [[]], `${recording}, ${format}: in speedscope`);
    }
    continue;
  }
  expect_equal(folded(exports_.file(recording, 'collapsed')),
               fold(facts.samples, (sample) => annotated(facts, sample).join(';')),
               `${recording}, annotated`);
  expect_equal(folded(exports_.file(recording, 'collapsed-plain')),
               fold(facts.samples, (sample) => [facts.threads[sample.thread].label,
                                                ...labels(facts, sample)].map(escaped).join(';')),
               `${recording}, plain with threads`);
}

const facts = exports_.facts('representative');
const {saved} = await open_in_speedscope(modules,
                                         exports_.file('representative', 'collapsed', 'wall.txt'));
expect_equal(saved.profiles.length, 1, 'profiles in speedscope');
expect_equal(weights_by_stack(saved, saved.profiles[0]),
             fold(facts.samples, (sample) => annotated(facts, sample).join('\n')),
             'stacks in speedscope');
if (!facts.samples.some((sample) => sample.frames.some((frame) => frame.kind === 'gap'))) {
  problems.push('the recording has no gap');
}
await close_speedscope();
finish('folded stacks are what was recorded; speedscope shows them');
