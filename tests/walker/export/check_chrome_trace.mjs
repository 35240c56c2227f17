// Checks the trace event format: strictly, event by event, by the rules of Perfetto's importer, and by speedscope's own
// importer.
// usage: check_chrome_trace.mjs WRITE_EXPORT NODE_MODULES

import fs from 'node:fs';

import {Exports, expect_equal, finish, labels, problems, rate_sentence} from './facts.mjs';
import {perfetto_slices, times_by_stack} from './perfetto.mjs';
import {close_speedscope, open_in_speedscope, weights_by_stack} from './speedscope_app.mjs';

const [program, modules] = process.argv.slice(2);
const exports_ = new Exports(program);
const ns = (us) => Math.round(us * 1000);
const without_samples = ['empty', 'no-exception'];
const recordings = ['representative', 'sqlite', 'parked', 'exception', 'class-load', 'module-load', 'dump', 'overloads',
                    'crowded', 'crowded-exceptions', ...without_samples];

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
// time between. Otherwise it lasts for its own value; a moment lasts a microsecond. Samples of one time come one after
// the other, each for a nanosecond at least, and moments a nanosecond apart. A frame that is new, and whose name was on
// another frame until then, begins a nanosecond later.
function recorded_times(facts) {
  const timed = ['wall', 'cpu'].includes(facts.event);
  if (!facts.samples.length) return new Map([[0, new Map([['[no samples]', 1000]])]]);
  const tracks = new Map();
  for (const sample of facts.samples) {
    const tid = facts.threads[sample.thread].os_id;
    if (!tracks.has(tid)) tracks.set(tid, []);
    tracks.get(tid).push(sample);
  }
  return new Map([...tracks].map(([tid, samples]) => {
    const times = new Map();
    let last_end = 0, open = [];
    samples.forEach((sample, i) => {
      const next = samples[i + 1]?.time_ns ?? Infinity;
      const begin = Math.max(sample.time_ns, timed || i === 0 ? last_end : last_end + 1);
      const own = timed ? sample.time_ns + sample.value : begin + 1000;
      const goes_on = timed && i + 1 < samples.length &&
          (next <= Math.max(own, sample.time_ns + 2 * facts.period_ns) ||
           next - sample.time_ns <= samples[i + 1].value);
      let end = goes_on ? next : timed ? own : Math.min(own, next - 1);
      if (timed && sample.value === 0 && end === sample.time_ns) {
        if (!goes_on) open = [];
        return;
      }
      const stack = labels(facts, sample);
      const add = (frames, time) => {
        if (frames.length && time) times.set(frames.join('\n'), (times.get(frames.join('\n')) ?? 0) + time);
      };
      const same = stack.findIndex((name, depth) => name !== open[depth]);
      const reopened = same >= 0 && open.slice(same).includes(stack[same]) ? 1 : 0;
      end = Math.max(end, begin + 1 + reopened);
      if (reopened) add(stack.slice(0, same), 1);
      add(stack, end - begin - reopened);
      last_end = end;
      open = goes_on ? stack : [];
    });
    return [tid, times];
  }));
}

// In these recordings no sample is lost, and each stands for the time since the sample before.
const whole_time = ['sqlite', 'parked'];

for (const recording of recordings) {
  const facts = exports_.facts(recording);
  const file = exports_.file(recording, 'chrome_trace', `${recording}.json`);
  const timed = ['wall', 'cpu'].includes(facts.event);
  const text = fs.readFileSync(file, 'utf8');
  const trace = JSON.parse(text);
  expect_equal(trace.otherData?.['rate reached'] ?? null, rate_sentence(facts), `${recording}: the rate that was reached`);
  const {tracks, names} = read_trace(recording, timed, trace);
  const recorded = recorded_times(facts);
  expect_equal([...tracks.keys()], [...recorded.keys()], `${recording}: threads`);
  const in_perfetto = perfetto_slices(recording, text);
  for (const [tid, times] of recorded) {
    expect_equal(tracks.get(tid)?.times, times, `${recording}, ${tid}: times`);
    expect_equal(times_by_stack(in_perfetto.get(tid) ?? []), times, `${recording}, ${tid}: times in Perfetto`);
    const label = facts.samples.length ? facts.threads.findLast(({os_id}) => os_id === tid).label : '[no samples]';
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
  const {saved} = await open_in_speedscope(modules, file);
  for (const [tid, times] of recorded) {
    const profile = saved.profiles.find(({name}) => name.endsWith(`tid ${tid})`));
    expect_equal(profile?.unit, 'microseconds', `${recording}, ${tid}: unit in speedscope`);
    const shown = weights_by_stack(saved, profile);
    expect_equal(new Map([...shown].map(([stack, us]) => [stack, ns(us)])), times, `${recording}, ${tid}: times in speedscope`);
  }
}
await close_speedscope();
finish('the trace is what was recorded; speedscope shows it');
