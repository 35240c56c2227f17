// Checks the speedscope format: by the schema that speedscope ships, and by its own importer.
// usage: check_speedscope.mjs WRITE_EXPORT NODE_MODULES

import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

import {Exports, expect_equal, finish, fold, labels, problems} from './facts.mjs';
import {close_speedscope, open_in_speedscope, weights_by_stack} from './speedscope_app.mjs';

const [program, modules] = process.argv.slice(2);
const exports_ = new Exports(program);
const require = createRequire(path.resolve(modules, 'none.js'));
const Ajv = require('ajv').default;
const schema = JSON.parse(fs.readFileSync(require.resolve(
    'speedscope/dist/release/file-format-schema.json')));
const valid = new Ajv({allErrors: true}).compile(schema);

const documents = new Map();
const without_samples = ['empty', 'no-exception'];
const with_samples = ['representative', 'sqlite', 'parked', 'exception', 'class-load', 'module-load', 'dump', 'overloads'];
for (const recording of [...with_samples, ...without_samples]) {
  const file = exports_.file(recording, 'speedscope', `${recording}.json`);
  const document = JSON.parse(fs.readFileSync(file, 'utf8'));
  documents.set(recording, {file, document});
  if (!valid(document)) problems.push(`${recording}: ${JSON.stringify(valid.errors)}`);
}

// The schema must be able to reject a document.
const broken = structuredClone(documents.get('representative').document);
delete broken.profiles[0].unit;
if (valid(broken)) problems.push('the schema takes a profile without unit');

for (const recording of without_samples) {
  const {saved} = await open_in_speedscope(modules, documents.get(recording).file);
  expect_equal(saved.profiles.map(({name, events}) => [name, events]), [['[no samples]', []]], recording);
}

for (const recording of with_samples) {
  const {file, document} = documents.get(recording);
  const facts = exports_.facts(recording);
  const {saved, shown} = await open_in_speedscope(modules, file);
  const threads = facts.threads
      .map(({label}, i) => ({label, samples: facts.samples.filter(({thread}) => thread === i)}))
      .filter(({samples}) => samples.length);
  expect_equal(saved.profiles.map(({name}) => name), threads.map(({label}) => label),
               `${recording}: threads`);
  threads.forEach(({label, samples}, i) => {
    const profile = saved.profiles[i];
    expect_equal(profile.unit, ['wall', 'cpu'].includes(facts.event) ? 'nanoseconds' : 'none',
                 `${recording}, ${label}: unit`);
    expect_equal(weights_by_stack(saved, profile),
                 fold(samples, (sample) => labels(facts, sample).join('\n')),
                 `${recording}, ${label}: stacks`);
  });
  // Frames with one module and name are one frame, so two modules with the same name would be a mistake.
  const frames = document.shared.frames.map(({name, file}) => `${name}\n${file}`);
  expect_equal(frames.length, new Set(frames).size, `${recording}: frames`);
  // The table shows the first thread, unless it is longer than the window.
  if (recording === 'sqlite') continue;
  for (const label of labels(facts, threads[0].samples[0])) {
    if (!shown.includes(label)) problems.push(`${recording}: speedscope does not show ${label}`);
  }
}
await close_speedscope();
finish('speedscope opens its format, and finds what was recorded');
