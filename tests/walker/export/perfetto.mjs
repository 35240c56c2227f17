// The rules by which Perfetto's trace processor imports the events B and E of a trace in JSON, since no registry has
// that program. From its sources (importers/json, sorter/trace_sorter.h, importers/common/slice_tracker.cc):
// - A time is multiplied by 1,000 in floating point, and what is behind the point is cut off. (Another reader of the
//   same program reads the digits of the text: at most three behind the point.)
// - Events are sorted by time. Events of one time stay in their order; but if any event of the trace has a duration,
//   all E come before all B of that time.
// - E ends the innermost open slice of its track that has its name and category. An E without such a slice is dropped.

import {problems} from './facts.mjs';

const READERS = {
  'in floating point': (text) => Math.trunc(Number(text) * 1000),
  'by digits': (text) => Number((text.split('.')[0] + (text.split('.')[1] ?? '').slice(0, 3).padEnd(3, '0'))),
};

// Returns the slices of each thread as Perfetto has them, in the order of their beginnings: a Map from thread id to
// [{ts, dur, depth, names: from the root}]. `text`: the document. Each way to read must give the same.
export function perfetto_slices(what, text) {
  const results = [];
  for (const [reader, read] of Object.entries(READERS)) {
    for (const ends_first of [false, true]) {
      results.push(import_slices(`${what}, read ${reader}${ends_first ? ', ends first' : ''}`, text, read, ends_first));
    }
  }
  const texts = results.map((slices) => JSON.stringify([...slices]));
  if (new Set(texts).size > 1) problems.push(`${what}: the nesting depends on how Perfetto reads the times`);
  return results[0];
}

function import_slices(what, text, read, ends_first) {
  // The text of each time is needed, so it becomes a string before the document is parsed.
  const {traceEvents} = JSON.parse(text.replaceAll(/"ts":([0-9.]+)/g, '"ts":"$1"'));
  const events = traceEvents.filter(({ph}) => ph !== 'M').map((event, i) => ({...event, i, ns: read(event.ts)}));
  const rank = ({ph}) => ends_first && ph === 'E' ? 0 : 1;
  events.sort((a, b) => a.ns - b.ns || rank(a) - rank(b) || a.i - b.i);
  const tracks = new Map();
  for (const {ph, tid, name, cat, ns} of events) {
    if (!tracks.has(tid)) tracks.set(tid, {open: [], slices: []});
    const {open, slices} = tracks.get(tid);
    if (ph === 'B') {
      const slice = {ts: ns, dur: null, depth: open.length, name, cat, names: [...open.map((slice) => slice.name), name]};
      open.push(slice);
      slices.push(slice);
      continue;
    }
    const at = open.findLastIndex((slice) => slice.name === name && slice.cat === cat);
    if (at < 0) {
      problems.push(`${what}: the end of ${name} at ${ns} ends nothing`);
      continue;
    }
    if (at !== open.length - 1) problems.push(`${what}: ${name} ends at ${ns} before ${open.at(-1).name}, which is inside it`);
    const slice = open[at];
    slice.dur = ns - slice.ts;
    if (slice.dur <= 0) problems.push(`${what}: ${name} at ${slice.ts} has no length`);
    open.splice(at, 1);
  }
  for (const [tid, {open}] of tracks) {
    if (open.length) problems.push(`${what}: ${open.length} slices of ${tid} never end`);
  }
  return new Map([...tracks].map(([tid, {slices}]) => [
    tid, slices.map(({ts, dur, depth, names}) => ({ts, dur, depth, names}))]));
}

// Returns the time of each stack, from the slices of one thread: a slice's time without that of the slices inside it.
export function times_by_stack(slices) {
  const times = new Map();
  for (const {dur, names} of slices) {
    const add = (stack, time) => times.set(stack.join('\n'), (times.get(stack.join('\n')) ?? 0) + time);
    add(names, dur);
    if (names.length > 1) add(names.slice(0, -1), -dur);
  }
  return new Map([...times].filter(([, time]) => time !== 0));
}
