// Runs mixwalk convert --otlp with a collector of Node.js's own HTTP server, which is well-behaved, absent, busy or
// hostile. What arrives must be decodable, nothing may be lost or arrive twice, and the exit code and the words on
// standard error must say what happened.
// usage: check_delivery.mjs MIXWALK WRITE_EXPORT NODE_MODULES

import {spawn} from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';
import net from 'node:net';
import path from 'node:path';
import zlib from 'node:zlib';

import {Exports, expect_equal, finish, problems} from '../export/facts.mjs';

const [mixwalk, write_export, modules] = process.argv.slice(2);
const exports_ = new Exports(write_export);
const protobuf = createRequire(path.resolve(modules, 'none.js'))('protobufjs');
const here = path.dirname(process.argv[1]);
const definitions = fs.readFileSync(path.join(here, '../export/otlp_profiles.proto'), 'utf8');
const Request = protobuf.parse(definitions, {keepCase: true}).root.lookupType('Request');
const {root: answers} = protobuf.parse(`syntax = "proto3";
  message Response { PartialSuccess partial_success = 1; }
  message PartialSuccess { int64 rejected_profiles = 1; string error_message = 2; }
  message Status { int32 code = 1; string message = 2; }`, {keepCase: true});
const encoded = (type, message) => Buffer.from(answers.lookupType(type).encode(message).finish());
const kProtobuf = {'Content-Type': 'application/x-protobuf'};

const folder = exports_.folder;
let spools = 0;
const new_spool = () => path.join(folder, `spool-${++spools}`);
const spooled = (spool) => fs.readdirSync(spool, {recursive: true})
    .filter((name) => name.includes('.otlp.gz')).map((name) => path.basename(name));

const recordings = {
  wall: exports_.file('representative', 'mixwalk'),
  exception: exports_.file('exception', 'mixwalk'),
  dump: exports_.file('dump', 'mixwalk'),
  large: exports_.file('large', 'mixwalk'),
};

// Runs mixwalk once, and returns {code, err, seconds}.
function convert(recording, port, spool, host = '127.0.0.1', more = [], variables = {}) {
  const begun = Date.now();
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) =>
      !name.startsWith('OTEL_')));
  const url = port === null ? [] : [`http://${host}:${port}`];
  const child = spawn(mixwalk, ['convert', recordings[recording], '--otlp', ...url, '--spool',
                                spool, ...more],
                      {stdio: ['ignore', 'pipe', 'pipe'], env: {...env, ...variables}});
  let out = '', err = '';
  child.stdout.on('data', (data) => out += data);
  child.stderr.on('data', (data) => err += data);
  return new Promise((resolve) => child.on('close', (code) => {
    if (out) problems.push(`${recording}: writes to standard output: ${out.slice(0, 80)}`);
    if (/[^\n\x20-\x7e…]/.test(err)) problems.push(`not printable: ${JSON.stringify(err)}`);
    resolve({code, err, seconds: (Date.now() - begun) / 1000});
  }));
}

function expect_says(what, run, code, words) {
  expect_equal(run.code, code, `${what}: exit code (${run.err.trim()})`);
  const lines = run.err.split('\n').filter((line) => line);
  expect_equal(lines.length, words.length, `${what}: lines of ${JSON.stringify(run.err)}`);
  words.forEach((word, i) => {
    if (!lines[i]?.includes(word)) problems.push(`${what}: "${word}" is not in: ${run.err}`);
  });
}

// Returns the content of a request, whatever its tables look like: event, first and last time, number of samples.
function content(what, body) {
  const bytes = zlib.gunzipSync(body);
  const message = Request.decode(bytes);
  expect_equal(Request.encode(message).finish().length, bytes.length, `${what}: bytes`);
  const {dictionary, resource_profiles: [{scope_profiles: [{profiles: [profile]}]}]} = message;
  const times = profile.samples.flatMap((sample) =>
      sample.timestamps_unix_nano.map((time) => BigInt(time.toString()))).sort();
  const attributes = Object.fromEntries(message.resource_profiles[0].resource.attributes.map(
      ({key, value}) => [key, value.string_value || String(value.int_value)]));
  return {attributes, id: Buffer.from(profile.profile_id).toString('hex'),
          event: dictionary.string_table[profile.sample_type.type_strindex], times,
          first: BigInt(profile.time_unix_nano.toString()),
          last: BigInt(profile.time_unix_nano.toString()) +
              BigInt(profile.duration_nano.toString()), bytes: bytes.length};
}
const expected = (recording) => {
  const facts = exports_.facts({wall: 'representative'}[recording] ?? recording);
  return facts.samples.map(({time_ns}) =>
      BigInt(facts.unix_time_ms) * 1_000_000n + BigInt(time_ns)).sort();
};

// A collector. `answer(request, response, n)` answers the n-th whole request; requests that were answered with a 2xx
// are in `taken`.
async function collector(answer = (_, response) => response.end(), options = {}) {
  const taken = [], requests = [];
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      requests.push({time: Date.now(), url: request.url, method: request.method,
                     headers: request.headers});
      response.on('finish', () => {
        if (response.statusCode < 300) taken.push(content('a request', body));
      });
      answer(request, response, requests.length);
    });
    request.on('error', () => {});
  });
  server.on('connection', (socket) => socket.on('error', () => {}));
  await new Promise((resolve) => server.listen(options.port ?? 0, options.host ?? '127.0.0.1',
                                               resolve));
  return {port: server.address().port, server, taken, requests,
          close: () => { server.closeAllConnections(); server.close(); }};
}

// A collector with a bare socket, for answers that no HTTP server would give.
async function socket_server(on_connection) {
  let connections = 0;
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    on_connection(socket, ++connections);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {port: server.address().port, connections: () => connections,
          close: () => { sockets.forEach((socket) => socket.destroy()); server.close(); }};
}

const events = (taken) => taken.map(({event}) => event);

async function arrives() {
  const spool = new_spool();
  const it = await collector();
  expect_says('arrives', await convert('wall', it.port, spool), 0, []);
  expect_equal(it.requests.length, 1, 'arrives: requests');
  const {url, method, headers} = it.requests[0];
  expect_equal([method, url, headers['content-type'], headers['content-encoding'], headers.host],
               ['POST', '/v1development/profiles', 'application/x-protobuf', 'gzip',
                `127.0.0.1:${it.port}`], 'arrives: the request');
  expect_equal(it.taken[0].times.map(String), expected('wall').map(String), 'arrives: samples');
  expect_equal(spooled(spool), [], 'arrives: spool');
  // The output also goes to a file, and the URL has another path.
  const file = path.join(folder, 'beside.otlp');
  expect_says('beside', await convert('wall', `${it.port}/a%20b/c`, spool, '127.0.0.1',
                                      ['-o', file]), 0, ['wrote ']);
  expect_equal(it.requests[1].url, '/a%20b/c', 'beside: path');
  expect_equal(it.taken[1].bytes, fs.statSync(file).size, 'beside: the bytes are the file');
  it.close();
}

// The collector, the service and the headers are set by variables; options take precedence.
async function by_variables() {
  const it = await collector();
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${it.port}/base/`,
    OTEL_SERVICE_NAME: 'orders', OTEL_RESOURCE_ATTRIBUTES: 'service.name=no,team=a%2Cb',
    OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=1%202, user-agent=me',
  };
  const spool = new_spool();
  expect_says('by variables', await convert('wall', null, spool, '', [], variables), 0, []);
  const {url, headers} = it.requests[0];
  expect_equal([url, headers['api-key'], headers['user-agent']],
               ['/base/v1development/profiles', '1 2', 'me'], 'by variables: the request');
  const {attributes, id} = it.taken[0];
  expect_equal([attributes['service.name'], attributes.team, attributes['process.command_line']],
               ['orders', 'a,b', undefined], 'by variables: attributes');
  expect_says('by options', await convert('wall', it.port, spool, '127.0.0.1', [
    '--otlp-service', 'mine', '--otlp-attribute', 'process.pid=7', '--otlp-header', 'api-key=3',
    '--otlp-command-line'], variables), 0, []);
  expect_equal([it.requests[1].url, it.requests[1].headers['api-key']],
               ['/v1development/profiles', '3'], 'by options: the request');
  const mine = it.taken[1].attributes;
  expect_equal([mine['service.name'], mine['process.pid']], ['mine', '7'], 'by options');
  if (!mine['process.command_line']) problems.push('by options: no command line');
  expect_equal([id.length, it.taken[1].id.length], [32, 32], 'profile ids');
  if (id === it.taken[1].id) problems.push('two requests have the same profile id');
  expect_says('a hostile header', await convert('wall', it.port, spool, '127.0.0.1', [],
                                                {OTEL_EXPORTER_OTLP_HEADERS: 'a=%0d%0ab'}), 2,
              ['the header "a" has a value that HTTP does not allow']);
  it.close();
}

async function by_ipv6() {
  const it = await collector(undefined, {host: '::1'});
  expect_says('by IPv6', await convert('wall', it.port, new_spool(), '[::1]'), 0, []);
  expect_equal(it.requests[0]?.headers.host, `[::1]:${it.port}`, 'by IPv6: host');
  it.close();
}

const kLargeSamples = 1_000_000;  // tests/builders/recordings.h

// A recording has 15 MB of OTLP, which must arrive in several requests, in order, none of them large.
async function in_parts() {
  const it = await collector();
  expect_says('in parts', await convert('large', it.port, new_spool()), 0, []);
  if (it.taken.length < 3) problems.push(`in parts: only ${it.taken.length} requests`);
  for (const {bytes} of it.taken) {
    if (bytes > 4 << 20) problems.push(`in parts: a request of ${bytes} bytes`);
  }
  for (const [i, {first, last, times}] of it.taken.entries()) {
    const before = it.taken[i - 1];
    if (before && first / 1_000_000n !== before.last / 1_000_000n) {
      problems.push(`in parts: ${first} does not follow ${before.last}`);
    }
    if (times[0] < first || times.at(-1) > last) problems.push('in parts: a sample is outside');
  }
  const all = it.taken.flatMap(({times}) => times);
  expect_equal(all.length, kLargeSamples, 'in parts: samples');
  it.close();
}

// The collector is down, then busy twice, then well. The older recording must arrive first, and each only once.
async function down_then_busy() {
  const spool = new_spool();
  const free = await collector();
  const {port} = free;
  free.close();
  const down = await convert('wall', port, spool);
  expect_says('down', down, 16, [`kept 1 request in "${spool}`]);
  if (!/refused/i.test(down.err)) problems.push(`down: no reason in: ${down.err}`);
  expect_equal(spooled(spool).length, 1, 'down: spool');
  const it = await collector((_, response, n) => {
    if (n <= 2) response.writeHead(503, {'Retry-After': n === 1 ? '2' :
        new Date(Date.now() + 2500).toUTCString()});
    response.end();
  }, {port});
  expect_says('busy', await convert('exception', port, spool), 0, []);
  expect_equal(events(it.taken), ['wall', 'exception'], 'busy: the older one first, each once');
  expect_equal(it.taken[0]?.times.map(String), expected('wall').map(String), 'busy: samples');
  expect_equal(it.requests.length, 4, 'busy: requests');
  const waited = it.requests[1].time - it.requests[0].time;
  if (waited < 1900) problems.push(`busy: Retry-After: 2 waited ${waited} ms`);
  const dated = it.requests[2].time - it.requests[1].time;
  if (dated < 1000) problems.push(`busy: Retry-After with a date waited ${dated} ms`);
  expect_equal(spooled(spool), [], 'busy: spool');
  it.close();
}

async function asked_to_wait_for_long() {
  const spool = new_spool();
  const it = await collector((_, response) => {
    response.writeHead(429, {'Retry-After': '3600', 'Content-Type': 'text/plain'});
    response.end('slow down\n');
  });
  const run = await convert('wall', it.port, spool);
  expect_says('a long wait', run, 16, ['(status 429: "slow down")']);
  if (run.seconds > 5) problems.push(`a long wait: took ${run.seconds} s`);
  expect_equal(it.requests.length, 1, 'a long wait: requests');
  it.close();
}

// The collector fails in the middle of a body, again and again, and comes back.
async function dies_in_mid_body() {
  const spool = new_spool();
  const dying = await socket_server((socket, n) => {
    socket.once('data', () => n % 2 ? socket.resetAndDestroy() : socket.destroy());
  });
  const {port} = dying;
  const first = convert('large', port, spool);
  for (let tenths = 0; dying.connections() < 3 && tenths < 300; ++tenths) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  dying.close();
  const it = await collector(undefined, {port});
  expect_says('dies', await first, 0, []);
  const all = it.taken.flatMap(({times}) => times);
  expect_equal(all.length, kLargeSamples, 'dies: samples');
  expect_equal(spooled(spool), [], 'dies: spool');
  it.close();
}

async function refuses() {
  const spool = new_spool();
  const it = await collector((_, response, n) => {
    if (n > 1) return response.end();
    response.writeHead(400, kProtobuf);
    response.end(encoded('Status', {code: 3, message: 'no \x1b[31msuch\nthing'}));
  });
  expect_says('refuses', await convert('wall', it.port, spool), 17,
              ['the collector refused it for good: status 400: "no \\x1b[31msuch\\x0athing"']);
  expect_equal(it.requests.length, 1, 'refuses: requests');
  expect_equal(spooled(spool).map((name) => name.endsWith('.otlp.gz.refused')), [true],
               'refuses: spool');
  expect_says('after refusal', await convert('dump', it.port, spool), 0, []);
  expect_equal(events(it.taken), ['dump'], 'refuses: the next one is not held up');
  expect_equal(spooled(spool).length, 1, 'refuses: what was refused stays');
  it.close();
}

async function takes_a_part() {
  const it = await collector((_, response, n) => {
    response.writeHead(200, kProtobuf);
    response.end(encoded('Response', {partial_success: n === 1 ?
        {rejected_profiles: 1, error_message: 'too old'} :
        {rejected_profiles: 0, error_message: 'use v2'}}));
  });
  const spool = new_spool();
  expect_says('a part', await convert('wall', it.port, spool), 17,
              ['the collector rejected 1 profile: "too old"']);
  expect_says('a warning', await convert('wall', it.port, spool), 0,
              ['the collector took the profiles, but says: "use v2"']);
  expect_equal(spooled(spool), [], 'a part: spool');
  it.close();
}

async function redirects() {
  const spool = new_spool();
  const it = await collector((_, response, n) => {
    response.writeHead(n === 1 ? 307 : 200, {Location: '/elsewhere'});
    response.end();
  });
  expect_says('redirects', await convert('wall', it.port, spool), 17,
              ['status 307 (redirects are not followed)']);
  expect_equal(it.requests.length, 1, 'redirects: requests');
  it.close();
}

// The collector sends something that is not an answer. The request must be kept, and mixwalk must come to its end.
async function says_nonsense(what, on_connection, words) {
  const spool = new_spool();
  const it = await socket_server(on_connection);
  const run = await convert('wall', it.port, spool);
  expect_says(what, run, 16, [words]);
  expect_equal(spooled(spool).length, 1, `${what}: spool`);
  if (run.seconds > 45) problems.push(`${what}: took ${run.seconds} s`);
  it.close();
}
const endless = (begin, more) => (socket) => {
  socket.write(begin);
  const go_on = () => { while (!socket.destroyed && socket.write(more)); };
  socket.on('drain', go_on);
  go_on();
};

// mixwalk has read the status, so the request has arrived, whatever bytes follow.
async function endless_body() {
  const spool = new_spool();
  for (const begin of ['HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 1' +
                       '0'.repeat(15) + '\r\n\r\n']) {
    const it = await socket_server(endless(begin, 'x'.repeat(4096)));
    const run = await convert('wall', it.port, spool);
    expect_says('endless body', run, 0, []);
    if (run.seconds > 8) problems.push(`endless body: read for ${run.seconds} s`);
    expect_equal(it.connections(), 1, 'endless body: connections');
    it.close();
  }
}

// Two runs at the same time use one collector. Each request in the spool must be sent once.
async function two_at_once() {
  const spool = new_spool();
  const it = await collector((_, response) => setTimeout(() => response.end(), 700));
  const [one, two] = await Promise.all([convert('wall', it.port, spool),
                                        convert('exception', it.port, spool)]);
  expect_says('one of two', one, 0, []);
  expect_says('two of two', two, 0, []);
  expect_equal(events(it.taken).sort(), ['exception', 'wall'], 'two at once');
  it.close();
}

await Promise.all([
  arrives(), by_variables(), by_ipv6(), in_parts(), down_then_busy(), asked_to_wait_for_long(), dies_in_mid_body(),
  refuses(), takes_a_part(), redirects(), endless_body(), two_at_once(),
  says_nonsense('garbage', (socket) => socket.end('\x1b]0;SSH-2.0-nonsense\r\n\r\n'), 'bad'),
  says_nonsense('never', () => {}, 'no answer in time'),
  says_nonsense('closes', (socket) => socket.end(), 'end of stream'),
  says_nonsense('a byte a second', (socket) => {
    const timer = setInterval(() => socket.write('H'), 1000);
    socket.on('close', () => clearInterval(timer));
  }, 'no answer in time'),
  says_nonsense('endless header', endless('HTTP/1.1 200 OK\r\nA: ', 'a'.repeat(4096)), 'header'),
]);
finish('What is sent to a collector arrives once, or is kept');
