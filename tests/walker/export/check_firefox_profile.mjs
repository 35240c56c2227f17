// Checks the profile format of the Firefox Profiler: by a schema, table by table, and by the Profiler's own code (its
// command-line program loads the profile and computes the call trees).
// usage: check_firefox_profile.mjs WRITE_EXPORT NODE_MODULES

import {execFile} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {promisify} from 'node:util';

import {Exports, expect_equal, finish, fold, labels, problems, rate_sentence} from './facts.mjs';

const [program, modules] = process.argv.slice(2);
const exports_ = new Exports(program);
const require = createRequire(path.resolve(modules, 'none.js'));
const here = path.dirname(process.argv[1]);
const Ajv = require('ajv').default;
const valid = new Ajv({allErrors: true, allowUnionTypes: true}).compile(
    JSON.parse(fs.readFileSync(path.join(here, 'firefox_profile.schema.json'))));

async function profiler(...args) {
  const cli = path.resolve(modules, '@firefox-devtools/profiler-cli/dist/profiler-cli.js');
  const {stdout} = await promisify(execFile)(process.execPath, [cli, ...args], {
    maxBuffer: 64 << 20,
    env: {...process.env, PROFILER_CLI_SESSION_DIR: exports_.folder,
          PROFILER_CLI_NO_SYMBOLICATE: '1'},
  });
  return stdout;
}

// The program starts a daemon and waits for 500 ms until that is ready. On a busy machine the daemon needs longer. In
// that case the program says so and names the daemon, which it leaves behind.
async function load(file) {
  for (let left = 30; ; --left) {
    try {
      return await profiler('load', file);
    } catch (error) {
      const late = /did not become ready within[^]*kill (\d+)/.exec(error.stderr);
      if (!late || left === 0) throw error;
      process.kill(Number(late[1]));
    }
  }
}

// Every column must be as long as its table says, and every index must be inside the table to which it refers.
function check_tables(what, {meta, libs, shared, threads}) {
  const tables = {...Object.fromEntries(Object.entries(shared).filter(([, table]) =>
      !Array.isArray(table)))};
  threads.forEach(({samples, markers}, i) => {
    tables[`threads[${i}].samples`] = samples;
    tables[`threads[${i}].markers`] = markers;
  });
  for (const [name, table] of Object.entries(tables)) {
    for (const [column, values] of Object.entries(table)) {
      if (Array.isArray(values) && values.length !== table.length) {
        problems.push(`${what}: ${name}.${column} has ${values.length} of ${table.length}`);
      }
    }
  }
  const inside = (name, values, length) => values.forEach((index) => {
    if (index !== null && index !== -1 && index >= length) {
      problems.push(`${what}: ${name} counts past its table: ${index} of ${length}`);
    }
  });
  const {stackTable, frameTable, funcTable, resourceTable, nativeSymbols, sources, stringArray} =
      shared;
  stackTable.prefix.forEach((prefix, i) => {
    if (prefix !== null && prefix >= i) problems.push(`${what}: prefix ${prefix} of stack ${i}`);
  });
  inside('stackTable.frame', stackTable.frame, frameTable.length);
  inside('frameTable.func', frameTable.func, funcTable.length);
  inside('frameTable.category', frameTable.category, meta.categories.length);
  inside('frameTable.nativeSymbol', frameTable.nativeSymbol, nativeSymbols.length);
  inside('funcTable.name', funcTable.name, stringArray.length);
  inside('funcTable.resource', funcTable.resource, resourceTable.length);
  inside('funcTable.source', funcTable.source, sources.length);
  inside('sources.filename', sources.filename, stringArray.length);
  inside('resourceTable.lib', resourceTable.lib, libs.length);
  inside('resourceTable.name', resourceTable.name, stringArray.length);
  inside('nativeSymbols.libIndex', nativeSymbols.libIndex, libs.length);
  inside('nativeSymbols.name', nativeSymbols.name, stringArray.length);
  for (const {samples} of threads) inside('samples.stack', samples.stack, stackTable.length);
}

// Returns the frames of a sample as the tables give them, leaf first.
function frames_of({meta, libs, shared}, stack) {
  const {stackTable, frameTable, funcTable, resourceTable, sources, stringArray} = shared;
  const frames = [];
  for (; stack !== null; stack = stackTable.prefix[stack]) {
    const frame = stackTable.frame[stack];
    const resource = funcTable.resource[frameTable.func[frame]];
    const source = funcTable.source[frameTable.func[frame]];
    frames.push({
      address: frameTable.address[frame], inline_depth: frameTable.inlineDepth[frame],
      category: meta.categories[frameTable.category[frame]].name,
      lib: resource < 0 ? null : libs[resourceTable.lib[resource]].codeId,
      file: source === null ? '' : stringArray[sources.filename[source]],
      line: frameTable.line[frame] ?? 0,
    });
  }
  return frames;
}

function recorded_frames(facts, sample) {
  const category = {managed: 'Managed', native: 'Native', stub: 'Stub', gap: 'Other'};
  const runtime = /[\\/](coreclr|clrjit)\.dll$/;
  const frames = sample.frames.map((frame) => {
    // Managed code has no image, whether it is ReadyToRun code or not.
    const module = frame.kind === 'native' ? facts.modules[frame.module] : undefined;
    const code_id = module && module.timestamp.toString(16).toUpperCase().padStart(8, '0') +
        module.size.toString(16);
    return {
      address: module ? frame.address - frame.return_address - module.base : -1,
      inline_depth: frame.inline_depth,
      category: module && runtime.test(module.path) ? 'Runtime' : category[frame.kind],
      lib: code_id ?? null, file: frame.file, line: frame.line,
    };
  });
  const standing = {idle: 'Idle thread', waits: 'Waiting'}[sample.standing];
  if (standing) frames[0].category = standing;
  if (labels(facts, sample).length > frames.length) {
    frames.unshift({address: -1, inline_depth: 0, category: 'Other', lib: null, file: '', line: 0});
  }
  return frames;
}

// Returns the weight of each path itself in the Profiler's call tree.
function self_weights(node, scale, path_to = [], weights = new Map()) {
  for (const child of node.children ?? []) {
    const names = [...path_to, child.nameWithLibrary];
    const self = Math.round(child.selfSamples * scale);
    if (self) weights.set(names.join('\n'), self);
    self_weights(child, scale, names, weights);
  }
  if (node.childrenTruncated) problems.push('the call tree is cut off');
  return weights;
}

for (const recording of ['representative', 'sqlite', 'exception', 'class-load', 'module-load', 'dump', 'overloads', 'no-exception', 'empty']) {
  const facts = exports_.facts(recording);
  const file = exports_.file(recording, 'firefox_profile', `${recording}.json`);
  const profile = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (!valid(profile)) problems.push(`${recording}: ${JSON.stringify(valid.errors)}`);
  check_tables(recording, profile);
  const name_of = (path) => path.replace(/^.*[\\/:]/s, '');
  expect_equal(profile.libs.map(({debugName, debugPath, breakpadId}) => [debugName, debugPath, breakpadId]),
               facts.modules.map(({path, pdb, debug_id}) => [name_of(pdb || path), pdb || path, debug_id]),
               `${recording}: the PDBs of images`);
  const facts_shown = (profile.meta.extra ?? []).flatMap(({entries}) => entries.map(({value}) => value));
  expect_equal(facts_shown, [rate_sentence(facts)].filter(Boolean), `${recording}: the rate that was reached`);
  if (problems.length) break;  // a walk through such tables may never end
  const timed = ['wall', 'cpu'].includes(facts.event);
  facts.threads.forEach(({label, os_id}, i) => {
    const samples = facts.samples.filter(({thread}) => thread === i);
    const thread = profile.threads[i];
    expect_equal([thread.name, thread.tid], [label, os_id], `${recording}: thread ${i}`);
    expect_equal(thread.samples.time, samples.map(({time_ns}) => time_ns / 1e6),
                 `${recording}, ${label}: times`);
    expect_equal(thread.samples.weight, samples.map(({value}) => timed ? value / 1e6 : value),
                 `${recording}, ${label}: weights`);
    samples.forEach((sample, k) => expect_equal(frames_of(profile, thread.samples.stack[k]),
                                                recorded_frames(facts, sample),
                                                `${recording}, ${label}: sample ${k}`));
  });
  if (!facts.threads.length) {
    facts.threads.push({label: '[no samples]', os_id: 0});
    expect_equal(profile.threads.map(({name, samples}) => [name, samples.length]), [['[no samples]', 0]], recording);
  }
  await load(file);
  try {
    // Each question is a start of the program, so they are asked at the same time.
    await Promise.all(facts.threads.map(async ({label}, i) => {
      const tree = JSON.parse(await profiler('thread', 'samples-top-down', '--json', '--thread', `t-${i}`,
                                             '--limit', '0'));
      expect_equal(tree.weightType, timed ? 'tracing-ms' : 'samples', `${label}: weight type`);
      const samples = facts.samples.filter(({thread}) => thread === i);
      expect_equal(self_weights(tree.regularCallTree, timed ? 1e6 : 1),
                   fold(samples, (sample) => labels(facts, sample).join('\n')),
                   `${recording}, ${label}: call tree of the Firefox Profiler`);
    }));
  } finally {
    await profiler('stop');
  }
}
finish('the Firefox Profiler opens it, and finds what was recorded');
