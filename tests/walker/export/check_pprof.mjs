// Checks the pprof format with the pprof of the Go tools.
// usage: check_pprof.mjs WRITE_EXPORT

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';

import {Exports, expect_equal, finish, fold, labels, problems, rate_sentence} from './facts.mjs';

const GO = '/usr/lib/go-1.19/bin/go';
const exports_ = new Exports(process.argv[2]);

const environment = {...process.env, PPROF_TMPDIR: exports_.folder, HOME: exports_.folder};

// The options: no symbols, no fetching, nothing left out.
const pprof = (...args) => execFileSync(GO, ['tool', 'pprof', '-symbolize=none', ...args], {
  encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: environment,
});

// pprof prints one item per line, and the names are hostile.
const one_line = (text) => text.replaceAll(/[\r\n]/g, '\u240a').trimEnd();

// Returns how pprof shows code of an image that has no name.
const nameless = (facts, frame) =>
    frame.module < 0 ? '<unknown>' : `[${one_line(facts.modules[frame.module].path)}]`;
const is_nameless = ({kind, label}) => kind === 'native' && /(^|!)0x[0-9a-f]+$/.test(label);

// Returns the functions of a sample, leaf first, as pprof counts them.
function functions(facts, sample) {
  const names = labels(facts, sample).map(one_line).reverse();
  const words = names.length - sample.frames.length;
  sample.frames.forEach((frame, i) => {
    if (is_nameless(frame)) names[words + i] = nameless(facts, frame);
  });
  return names;
}

function check_top(recording, facts, file, event, unit) {
  const flat = fold(facts.samples, (sample) => functions(facts, sample)[0]);
  const cum = new Map();
  for (const sample of facts.samples) {
    for (const name of new Set(functions(facts, sample))) {
      cum.set(name, (cum.get(name) ?? 0) + sample.value);
    }
  }
  const expected = new Map([...cum].map(([name, sum]) => [name, [flat.get(name) ?? 0, sum]]));
  let text = pprof('-top', '-trim=false', `-sample_index=${event}`, ...(unit ? ['-unit=ns'] : []),
                   file);
  for (const raw of facts.raw) text = text.replaceAll(raw, one_line(raw));
  const found = new Map();
  const number = (word) => Number(word.replace(/ns$/, ''));
  for (const line of text.split('\n')) {
    const parts = /^ *(\S+) +\S+% +\S+% +(\S+) +\S+% +(.*?)( \(inline\))?$/.exec(line);
    if (parts) found.set(parts[3].trimEnd(), [number(parts[1]), number(parts[2])]);
  }
  expect_equal(found, expected, `${recording}: -top`);
}

// Reads the output of -raw: samples with locations and labels, locations with functions, images.
function read_raw(facts, file) {
  let text = pprof('-raw', file);
  for (const raw of facts.raw) text = text.replaceAll(raw, one_line(raw));
  const [head, samples, locations, mappings] =
      text.split(/^(?:Samples:|Locations|Mappings)\n/m);
  const result = {head, types: samples.split('\n')[0], samples: [], locations: new Map(),
                  mappings: new Map()};
  for (const line of samples.split('\n').slice(1)) {
    const values = /^ *([\d ]+): ([\d ]+)$/.exec(line);
    const numbers = (words) => words.trim().split(/ +/).map(Number);
    if (values) {
      result.samples.push({values: numbers(values[1]), locations: numbers(values[2]), tags: {}});
      continue;
    }
    const tags = /(thread|kind|tid|standing):\[(.*?)\](?= (?:thread|kind|tid|standing):| *$)/g;
    for (const [, key, value] of line.matchAll(tags)) result.samples.at(-1).tags[key] = value;
  }
  let last;
  for (const line of locations.split('\n')) {
    const parts = /^ *(\d+): (0x[0-9a-f]+) (?:M=(\d+) )?(.*)$/.exec(line);
    const lines = (words) =>
        words.trim() ? [words.replace(/ s=\d+(\(.*)?$/, '').replace(/ :0$/, '').trim()] : [];
    if (parts) {
      last = {address: BigInt(parts[2]), mapping: Number(parts[3] ?? 0), lines: lines(parts[4])};
      result.locations.set(Number(parts[1]), last);
    } else if (line.trim()) {
      last.lines.push(...lines(line));
    }
  }
  for (const line of mappings.split('\n')) {
    const parts = /^(\d+): (0x[0-9a-f]+)\/(0x[0-9a-f]+)\/0x0 (.*)$/.exec(line);
    if (parts) {
      result.mappings.set(Number(parts[1]),
                          {start: BigInt(parts[2]), limit: BigInt(parts[3]), rest: parts[4]});
    }
  }
  return result;
}

function check_raw(recording, facts, file, timed) {
  const raw = read_raw(facts, file);
  const types = timed ? 'samples/count wall/nanoseconds[dflt]' : `${facts.event}/count[dflt]`;
  expect_equal(raw.types, types, `${recording}: sample types`);
  if (timed) {
    for (const line of ['PeriodType: wall nanoseconds', `Period: ${facts.period_ns}`]) {
      if (!raw.head.includes(line)) problems.push(`${recording}: no ${line} in ${raw.head}`);
    }
  }
  // The text of a location has its address inside the call, its image, and its functions, innermost first.
  const text_of = ({address, mapping, lines}) => {
    const image = raw.mappings.get(mapping);
    return [address, image ? `${image.start}-${image.limit} ${image.rest}`.trim() : '', ...lines]
        .join('|');
  };
  const image_text = (module) => {
    const {base, size, timestamp, path, debug_id} = module;
    const index = facts.modules.indexOf(module);
    const frames = facts.samples.flatMap((sample) => sample.frames);
    const own = frames.filter((frame) => frame.module === index);
    const id = debug_id || timestamp.toString(16).toUpperCase().padStart(8, '0') + size.toString(16);
    const has_symbol = (frame) => !is_nameless(frame) && frame.symbol !== 'function-table';
    const flags = (own.every(has_symbol) ? '[FN]' : '') +
        (own.some((frame) => frame.inline_depth) ? '[IN]' : '');
    return `${base}-${base + size} ${one_line(path)} ${id} ${flags}`.trim();
  };
  const expected_locations = (sample) => {
    const result = [];
    let inlined = [];
    for (const frame of sample.frames) {
      const place = frame.file ? ` ${one_line(frame.file)}:${frame.line}` : '';
      inlined.push(one_line(frame.label) + place);
      if (frame.inline_depth) continue;
      const address = frame.address && frame.return_address ? frame.address - 1 : frame.address;
      const image = frame.module < 0 ? '' : image_text(facts.modules[frame.module]);
      result.push([address, image, ...(is_nameless(frame) ? [] : inlined)].join('|'));
      inlined = [];
    }
    if (labels(facts, sample).length > sample.frames.length) {
      result.unshift(['0', '', one_line(labels(facts, sample).at(-1))].join('|'));
    }
    return result;
  };
  const key = (tags, locations) => JSON.stringify([tags.thread, tags.tid, tags.kind, tags.standing, locations]);
  const found = new Map(raw.samples.map(({values, locations, tags}) => [
    key(tags, locations.map((id) => text_of(raw.locations.get(id)))), values]));
  const sums = new Map();
  for (const sample of facts.samples) {
    const {label, os_id} = facts.threads[sample.thread];
    const tags = {thread: one_line(label), tid: String(os_id),
                  kind: sample.frames[0]?.kind ?? 'none',
                  standing: sample.standing === 'unknown' ? undefined : sample.standing};
    const sum = sums.get(key(tags, expected_locations(sample))) ?? [0, 0];
    sums.set(key(tags, expected_locations(sample)), [sum[0] + 1, sum[1] + sample.value]);
  }
  if (!timed) sums.forEach((sum) => sum.shift());
  expect_equal(found, sums, `${recording}: -raw`);
}

// pprof simplifies a name by rules for C++, unless the profile says that another name is that of the system. What it
// shows by default must still tell overloads and instantiations apart.
function check_default_names(recording, facts, file) {
  const text = execFileSync(GO, ['tool', 'pprof', '-top', '-nodecount=1000', '-trim=false', file], {
    encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: environment,
  });
  const found = text.split('\n').map((line) => /^ *\S+ +\S+% +\S+% +\S+ +\S+% +(.*?)( \(inline\))?$/.exec(line)?.[1])
      .filter((name) => name !== undefined);
  const expected = [...new Set(facts.samples.flatMap((sample) => functions(facts, sample)))];
  expect_equal(found.sort(), expected.sort(), `${recording}: -top by default`);
}

{
  const file = exports_.file('overloads', 'pprof', 'overloads.pb.gz');
  check_default_names('overloads', exports_.facts('overloads'), file);
}

for (const recording of ['representative', 'sqlite', 'exception', 'class-load', 'module-load', 'dump']) {
  const facts = exports_.facts(recording);
  const timed = ['representative', 'sqlite'].includes(recording);
  const names = facts.samples.flatMap((sample) => labels(facts, sample));
  facts.raw = [...new Set([
    ...names, ...names.map((name) => name.replace(/^[^!]*!/, '')),
    ...facts.samples.flatMap(({frames}) => frames.flatMap(({file, name}) => [file, name])),
    ...facts.modules.map(({path}) => path), ...facts.threads.map(({label}) => label),
  ])].filter((text) => /[\r\n]/.test(text)).sort((a, b) => b.length - a.length);
  const file = exports_.file(recording, 'pprof', `${recording}.pb.gz`);
  check_top(recording, facts, file, facts.event, timed);
  check_raw(recording, facts, file, timed);
  const comments = pprof('-comments', file).trim().split('\n').filter((line) => !line.startsWith('mixwalk '));
  expect_equal(comments, [rate_sentence(facts)].filter(Boolean), `${recording}: comments`);
  const bytes = fs.readFileSync(file);
  expect_equal([...bytes.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255],
               `${recording}: the gzip header knows no time and no system`);
}
for (const recording of ['empty', 'no-exception']) {
  const file = exports_.file(recording, 'pprof');
  pprof('-raw', file);
  if (!pprof('-top', file).includes('0% of 0 total')) problems.push(`${recording}: -top does not show nothing`);
}
finish('pprof opens it, and its numbers are those that were recorded');
