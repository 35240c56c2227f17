// Checks the trace event format: strictly, event by event, and by speedscope's own importer.
// usage: check_chrome_trace.mjs WRITE_EXPORT NODE_MODULES

import fs from 'node:fs';

import {Exports, expect_equal, finish, labels, problems, rate_sentence} from './facts.mjs';
import {open_in_speedscope, weights_by_stack} from './speedscope_app.mjs';

const [program, modules] = process.argv.slice(2);
const exports_ = new Exports(program);
const ns = (us) => Math.round(us * 1000);

// Returns {tracks: with nanoseconds by stack, names: of the tracks}. Every E must end what the last B began, time must
// go forward, and nothing may stay open. If samples follow each other directly, a slice that ends must not begin again
// at once.
function read_trace(what, timed, {traceEvents}) {
  const tracks = new Map();
  const names = new Map();
  for (const {ph, pid, tid, ts, name, args} of traceEvents) {
    if (ph === 'M') {
      if (name === 'thread_name') names.set(tid, args.name);
      continue;
    }
    expect_equal(pid, ({empty: 0, sqlite: 1860})[what] ?? 4711, `${what}: process`);
    if (!tracks.has(tid)) tracks.set(tid, {open: [], last: 0, times: new Map(), ended: ''});
    const track = tracks.get(tid);
    if (ns(ts) < track.last) problems.push(`${what}: time goes back in ${tid}: ${ts}`);
    const stack = track.open.join('\n');
    if (track.open.length && ns(ts) > track.last) {
      track.times.set(stack, (track.times.get(stack) ?? 0) + ns(ts) - track.last);
    }
    const ended_before = ns(ts) === track.last ? track.ended : '';
    track.last = ns(ts);
    track.ended = '';
    if (ph === 'B') {
      track.open.push(name);
      if (timed && track.open.join('\n') === ended_before) {
        problems.push(`${what}: a slice of ${name} is cut in two at ${ts}`);
      }
    } else if (ph === 'E' && track.open.at(-1) === name) {
      track.ended = stack;
      track.open.pop();
    } else {
      problems.push(`${what}: an event that fits nothing: ${ph} ${name} at ${ts}`);
    }
  }
  for (const [tid, {open}] of tracks) {
    if (open.length) problems.push(`${what}: ${open} of ${tid} is never closed`);
  }
  return {tracks, names};
}

// The times of the samples: each sample lasts until the next one of its thread if that one is near, or stands for the
// time between. Otherwise it lasts for its own value; a moment lasts a microsecond.
function recorded_times(facts) {
  const timed = ['wall', 'cpu'].includes(facts.event);
  const tracks = new Map();
  for (const sample of facts.samples) {
    const tid = facts.threads[sample.thread].os_id;
    if (!tracks.has(tid)) tracks.set(tid, []);
    tracks.get(tid).push(sample);
  }
  return new Map([...tracks].map(([tid, samples]) => {
    const times = new Map();
    samples.forEach((sample, i) => {
      const next = samples[i + 1]?.time_ns ?? Infinity;
      const own = sample.time_ns + (timed ? sample.value : 1000);
      const goes_on = timed && i + 1 < samples.length &&
          (next <= Math.max(own, sample.time_ns + 2 * facts.period_ns) ||
           next - sample.time_ns <= samples[i + 1].value);
      const end = goes_on ? next : timed ? own : Math.min(own, next);
      const stack = labels(facts, sample).join('\n');
      if (end > sample.time_ns) {
        times.set(stack, (times.get(stack) ?? 0) + end - sample.time_ns);
      }
    });
    return [tid, times];
  }));
}

// In these recordings no sample is lost, and each stands for the time since the sample before.
const whole_time = ['sqlite', 'parked'];

for (const recording of ['representative', 'sqlite', 'parked', 'exception', 'class-load', 'module-load', 'dump', 'empty']) {
  const facts = exports_.facts(recording);
  const file = exports_.file(recording, 'chrome_trace', `${recording}.json`);
  const timed = ['wall', 'cpu'].includes(facts.event);
  const trace = JSON.parse(fs.readFileSync(file, 'utf8'));
  expect_equal(trace.otherData?.['rate reached'] ?? null, rate_sentence(facts), `${recording}: the rate that was reached`);
  const {tracks, names} = read_trace(recording, timed, trace);
  const recorded = recorded_times(facts);
  expect_equal([...tracks.keys()], [...recorded.keys()], `${recording}: threads`);
  for (const [tid, times] of recorded) {
    expect_equal(tracks.get(tid).times, times, `${recording}, ${tid}: times`);
    const {label} = facts.threads.findLast(({os_id}) => os_id === tid);
    expect_equal(names.get(tid), label, `${recording}: name of ${tid}`);
  }
  if (whole_time.includes(recording)) {
    // A check without the formula above: slices last as long as the time for which the samples stand, to within one
    // sample.
    for (const [tid, {times}] of tracks) {
      const samples = facts.samples.filter(({thread}) => facts.threads[thread].os_id === tid);
      const values = samples.map(({value}) => value);
      const stands_for = values.reduce((sum, value) => sum + value, 0);
      const shown = [...times.values()].reduce((sum, time) => sum + time, 0);
      if (Math.abs(shown - stands_for) > Math.max(...values)) {
        problems.push(`${recording}, ${tid}: slices of ${shown} ns for ${stands_for} ns`);
      }
    }
  }
  if (recording === 'empty') continue;  // speedscope refuses a trace without events
  const {saved} = await open_in_speedscope(modules, file);
  for (const [tid, times] of recorded) {
    const profile = saved.profiles.find(({name}) => name.endsWith(`(tid ${tid})`));
    expect_equal(profile?.unit, 'microseconds', `${recording}, ${tid}: unit in speedscope`);
    // For events with the same time, the importer guesses the order by their names, so a stack may differ there. How
    // long the thread is busy, and with what, must be right.
    const busy = (weights) => [...weights.values()].reduce((sum, time) => sum + time, 0);
    const names_of = (weights) =>
        [...new Set([...weights.keys()].flatMap((stack) => stack.split('\n')))].sort();
    const shown = weights_by_stack(saved, profile);
    expect_equal(ns(busy(shown)), busy(times), `${recording}, ${tid}: time in speedscope`);
    expect_equal(names_of(shown), names_of(times), `${recording}, ${tid}: frames in speedscope`);
  }
}
finish('the trace is what was recorded; speedscope shows it');
