// What every export of a recording must contain, from the recording itself (write_export's facts).

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export class Exports {
  constructor(program) {
    this.program = program;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mixwalk-exports-'));
    process.on('exit', () => fs.rmSync(this.folder, {recursive: true, force: true}));
  }

  // Returns the path of a recording in a format.
  file(recording, format, name = `${recording}.${format}`) {
    const file = path.join(this.folder, name);
    execFileSync(this.program, [recording, format, file], {stdio: ['ignore', 'ignore', 'inherit']});
    return file;
  }

  facts(recording) {
    const facts = JSON.parse(fs.readFileSync(this.file(recording, 'facts'), 'utf8'));
    for (const sample of facts.samples) sample.frames = sample.frames.map((number) => facts.frames[number]);
    if (recording === 'sqlite') expect_interleaved(facts);
    return facts;
  }
}

// The worker of a real program: managed code calls e_sqlite3.dll, which calls managed code, which calls e_sqlite3.dll
// again, each time through stubs. Every export must show the same.
function expect_interleaved(facts) {
  const turns = /^Microsoft\.Data\.Sqlite|^SQLitePCL|^\[(P\/Invoke|callback)\]|^e_sqlite3\.dll!/;
  const stacks = facts.samples.map((sample) =>
      labels(facts, sample).filter((label) => turns.test(label))
          .map((label) => label[0] === '[' ? 'stub' : label[0] === 'e' ? 'native' : 'managed')
          .filter((kind, i, kinds) => kind !== kinds[i - 1]).join(' '));
  const turn = 'managed stub native stub';
  if (!stacks.includes(`${turn} ${turn} managed`)) {
    problems.push(`the recording of sqlite shows no interleaved stack: ${stacks.join('\n')}`);
  }
}

// Returns the labels of a sample, root first: a word if it has no stack, and its type on top.
export function labels(facts, sample) {
  if (!sample.frames.length) return [sample.detail ? `[no stack: ${sample.detail}]` : '[no stack]'];
  const moments = ['exception', 'allocation', 'class-load', 'module-load'];
  const typed = sample.detail !== null && moments.includes(facts.event);
  return sample.frames.map((frame) => frame.label).reverse().concat(typed ? [sample.detail] : []);
}

// Returns the rate that was reached, in samples per second for each thread, as docs/format.md defines it; null if there
// is none.
export function reached_hz(facts) {
  if (facts.event !== 'wall' || !facts.samples.length) return null;
  const last = Math.max(...facts.samples.map(({time_ns}) => time_ns));
  const at_last = facts.samples.filter(({time_ns}) => time_ns === last).length;
  const represented = facts.samples.reduce((sum, {value}) => sum + value, 0);
  const overdue = Math.max(0, facts.duration_ns - last - facts.period_ns);
  const count = facts.samples.length;
  return count / ((represented + overdue * at_last) / 1e9) * count / (count + facts.dropped);
}

// Returns the same as a sentence for people; null if there is none.
export function rate_sentence(facts) {
  const reached = reached_hz(facts);
  return reached && `${reached.toFixed(1)} samples a second of each thread, ${1e9 / facts.period_ns} asked for`;
}

// Sums the values of samples by the key that `stack` returns for each: a Map.
export function fold(samples, stack) {
  const sums = new Map();
  for (const sample of samples) {
    const key = stack(sample);
    sums.set(key, (sums.get(key) ?? 0) + sample.value);
  }
  return sums;
}

export const problems = [];

// Compares two Maps, and reports only the entries that differ.
export function expect_equal(actual, expected, what) {
  if (actual instanceof Map && expected instanceof Map) {
    for (const key of new Set([...actual.keys(), ...expected.keys()])) {
      expect_equal(actual.get(key), expected.get(key), `${what}: ${key}`);
    }
    return;
  }
  const [is, must_be] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== must_be) problems.push(`${what}:\n  is       ${is}\n  must be  ${must_be}`);
}

export function finish(what) {
  console.log(problems.length ? problems.join('\n') : what);
  process.exitCode = problems.length ? 1 : 0;
}
