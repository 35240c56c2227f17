// Checks OTLP profiles, decoded by protobuf.js with the field numbers of the specification. Every reference must lead
// to an entry, every table must begin with its zero value, and the decoded content must be what was recorded.
// usage: check_otlp.mjs WRITE_EXPORT NODE_MODULES

import {createHash} from 'node:crypto';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

import {Exports, expect_equal, finish, labels, problems, reached_hz} from './facts.mjs';

const [program, modules] = process.argv.slice(2);
const exports_ = new Exports(program);
const protobuf = createRequire(path.resolve(modules, 'none.js'))('protobufjs');
const definitions = path.join(path.dirname(process.argv[1]), 'otlp_profiles.proto');
const Request = protobuf.parse(fs.readFileSync(definitions, 'utf8'), {keepCase: true})
                    .root.lookupType('Request');

function decode(what, file) {
  const bytes = fs.readFileSync(file);
  const message = Request.decode(bytes);
  // A field that the definitions do not have would be lost when the message is encoded again.
  expect_equal(Request.encode(message).finish().length, bytes.length, `${what}: bytes`);
  return Request.toObject(message, {longs: BigInt, bytes: String, arrays: true, defaults: true,
                                    oneofs: true});
}

const is_zero = (value) => Array.isArray(value) ? value.length === 0 :
    value !== null && typeof value === 'object' ? Object.values(value).every(is_zero) :
    !value || value === 0n;

// A document in which every index is replaced by the entry to which it refers.
class Document {
  constructor(what, request) {
    this.what = what;
    this.tables = request.dictionary;
    for (const [name, table] of Object.entries(this.tables)) {
      const bytes = (id) => Buffer.from(id, 'base64').length;
      const link = name === 'link_table' && bytes(table[0].trace_id) === 16 &&
          bytes(table[0].span_id) === 8;
      if (!table.length || !(link || is_zero(table[0]))) {
        problems.push(`${what}: ${name} does not begin with its zero value`);
      }
      const texts = table.map((entry) => JSON.stringify(entry, (_, value) =>
          typeof value === 'bigint' ? String(value) : value));
      if (new Set(texts).size !== texts.length) problems.push(`${what}: ${name} repeats itself`);
    }
  }
  at(table, index) {
    const entry = this.tables[table][index];
    if (entry === undefined) problems.push(`${this.what}: no ${table}[${index}]`);
    return entry;
  }
  string(index) { return this.at('string_table', index); }
  attributes(indices) {
    return Object.fromEntries(indices.map((index) => {
      const {key_strindex, value} = this.at('attribute_table', index);
      return [this.string(key_strindex), value[value.value]];
    }));
  }
  location(index) {
    const location = this.at('location_table', index);
    const mapping = this.at('mapping_table', location.mapping_index);
    return {
      address: location.address,
      type: this.attributes(location.attribute_indices)['profile.frame.type'] ?? null,
      functions: location.lines.map(({function_index, line}) => {
        const its = this.at('function_table', function_index);
        // pprof, to which collectors convert, would merge overloads whose two names are equal.
        if (its.system_name_strindex === its.name_strindex) {
          problems.push(`${this.what}: both names of a function are ${this.string(its.name_strindex)}`);
        }
        return [this.string(its.name_strindex), this.string(its.filename_strindex), line];
      }),
      image: location.mapping_index === 0 ? null : {
        base: mapping.memory_start, limit: mapping.memory_limit,
        path: this.string(mapping.filename_strindex),
        id: this.attributes(mapping.attribute_indices)['process.executable.build_id.htlhash'] ??
            null,
        gnu: this.attributes(mapping.attribute_indices)['process.executable.build_id.gnu'] ?? null,
      },
    };
  }
  value_type({type_strindex, unit_strindex}) {
    return [this.string(type_strindex), this.string(unit_strindex)];
  }
}

const text = (value) => JSON.stringify(value, (_, each) =>
    typeof each === 'bigint' ? Number(each) : each);

function found_samples(document, profile) {
  const samples = [];
  for (const sample of profile.samples) {
    if (sample.values.length !== sample.timestamps_unix_nano.length || !sample.values.length) {
      problems.push(`${document.what}: a sample has not a value to every time`);
    }
    document.at('link_table', sample.link_index);
    const thread = document.attributes(sample.attribute_indices);
    const stack = document.at('stack_table', sample.stack_index).location_indices
                      .map((index) => document.location(index));
    sample.values.forEach((value, i) => samples.push(text({
      time: String(sample.timestamps_unix_nano[i]), value, tid: thread['thread.id'],
      thread: thread['thread.name'], stack,
    })));
  }
  return samples.sort();
}

function recorded_samples(facts, build_ids) {
  const image = (module) => ({base: module.base, limit: module.base + module.size,
                              path: module.path, id: build_ids.get(module.path) ?? null,
                              gnu: module.build_id || null});
  return facts.samples.map((sample) => {
    const stack = [];
    let functions = [];
    for (const frame of sample.frames) {
      const nameless = frame.kind === 'native' && /(^|!)0x[0-9a-f]+$/.test(frame.label);
      if (!nameless) functions.push([frame.label, frame.file, frame.line]);
      if (frame.inline_depth) continue;
      stack.push({
        address: frame.address && frame.return_address ? frame.address - 1 : frame.address,
        type: {managed: 'dotnet', stub: 'dotnet', native: 'native', gap: null}[frame.kind],
        functions,
        image: frame.module < 0 ? null : image(facts.modules[frame.module]),
      });
      functions = [];
    }
    const names = labels(facts, sample);
    if (names.length > sample.frames.length) {
      stack.unshift({address: 0, type: null, functions: [[names.at(-1), '', 0]], image: null});
    }
    const thread = facts.threads[sample.thread];
    const time = BigInt(facts.unix_time_ms) * 1_000_000n + BigInt(sample.time_ns);
    return text({time: String(time), value: sample.value, tid: thread.os_id, thread: thread.label,
                 stack});
  }).sort();
}

function htlhash(file) {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(file.length));
  return createHash('sha256').update(file.subarray(0, 4096)).update(file.subarray(-4096))
      .update(length).digest('hex').slice(0, 32);
}
const build_ids = new Map([['C:\\plugins\\first.dll',
                            htlhash(fs.readFileSync(exports_.file('representative', 'image')))]]);

const ids = new Set();
for (const recording of ['representative', 'sqlite', 'exception', 'class-load', 'module-load', 'dump', 'overloads', 'no-exception', 'empty']) {
  const facts = exports_.facts(recording);
  const request = decode(recording, exports_.file(recording, 'otlp'));
  const document = new Document(recording, request);
  const [{scope_profiles: [{scope, profiles: [profile]}], resource}] = request.resource_profiles;
  expect_equal(scope.name, 'mixwalk', `${recording}: scope`);
  const timed = ['wall', 'cpu'].includes(facts.event);
  expect_equal(document.value_type(profile.sample_type),
               [facts.event, timed ? 'nanoseconds' : 'count'], `${recording}: sample type`);
  if (timed) {
    expect_equal(document.value_type(profile.period_type), [facts.event, 'nanoseconds'],
                 `${recording}: period type`);
  }
  expect_equal(Number(profile.period), facts.period_ns, `${recording}: period`);
  expect_equal(Number(profile.duration_nano), facts.duration_ns, `${recording}: duration`);
  expect_equal(String(profile.time_unix_nano), String(BigInt(facts.unix_time_ms) * 1_000_000n),
               `${recording}: time`);
  const {'mixwalk.reached_hz': reached = null} = document.attributes(profile.attribute_indices);
  expect_equal(reached?.toFixed(6), reached_hz(facts)?.toFixed(6), `${recording}: the rate that was reached`);
  const id = Buffer.from(profile.profile_id, 'base64');
  expect_equal(id.length, 16, `${recording}: profile id`);
  if (ids.has(id.toString('hex')) || id.every((byte) => byte === 0)) {
    problems.push(`${recording}: its profile id is not its own`);
  }
  ids.add(id.toString('hex'));
  const found = found_samples(document, profile);
  const recorded = recorded_samples(facts, build_ids);
  expect_equal(found.length, recorded.length, `${recording}: samples`);
  recorded.forEach((sample, i) => expect_equal(found[i], sample, `${recording}: a sample`));
  if (recording === 'representative') {
    const attributes = Object.fromEntries(resource.attributes.map(
        ({key, value}) => [key, String(value[value.value])]));
    expect_equal(attributes['process.pid'], '4711', 'process.pid');
    expect_equal(attributes['service.name'],
                 `unknown_service:${attributes['process.executable.name']}`, 'service.name');
    expect_equal(attributes['process.command_line'], undefined, 'process.command_line');
    expect_equal(attributes['process.runtime.version'], '10.0.12.0', 'process.runtime.version');
    const ids = document.tables.mapping_table.filter((mapping) =>
        'process.executable.build_id.htlhash' in document.attributes(mapping.attribute_indices));
    expect_equal(ids.length, 1, 'images with a build id: the one whose file is the loaded one');
  }
}
finish('OTLP profiles are what was recorded, and every reference leads somewhere');
