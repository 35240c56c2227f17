// The threads that the page shows. Each thread has one entry for all dumps.

const dump = dumps[dumps.length - 1] ?? null;  // the last dump, which most views show
const isSeries = dumps.length > 1;
const hang = report.findings ?? null;
dumps.forEach((each, i) => each.threads.forEach((thread) => { thread.dump = i; }));

// By number: {dumps: their indices, last: the last of them, name, id, path, command, runtime, sick}. Empty if nothing
// was compared.
const processes = [];
if (hang) {
  hang.process.forEach((number, at) => {
    const process = processes[number] ??= {dumps: [], sick: hang.across?.sick[number] ?? false};
    process.dumps.push(at);
    process.last = at;
  });
  for (const process of processes) {
    process.path = readable(strings[hang.paths[process.last]]);
    process.id = hang.pids[process.last];
    process.host = readable(strings[hang.hosts[process.last]]);
    process.command = readable(strings[hang.commands[process.last]]);
    process.runtime = readable(strings[hang.runtimes[process.last]]);
    process.name = readable(fileName(hang.files[process.last])) || `process ${process.id}`;
  }
  // Files of several folders may have the same name, and a file may contain dumps of several processes.
  const names = processes.map(({name}) => name);
  processes.forEach((process, i) => {
    if (names.indexOf(process.name) !== names.lastIndexOf(process.name)) process.name += `, process ${process.id} (${i + 1})`;
  });
}
const isFleet = processes.length > 1;
const processOf = (thread) => processes[hang.process[thread.dump]];

const VERDICTS = {
  stuck: 'it cannot continue by itself: it is at the same place and used no processor time, or it waits for a thread that makes no progress',
  spinning: 'it ran most of the time and did not leave its function',
  waiting: 'it waits for something outside the process, or for a signal, which has no owner',
  idle: 'it waits for work, which is its purpose',
  returned: 'the same stack again, but it ran in between',
  moved: 'another stack',
  unclear: 'it is not known whether it made progress',
  new: 'it was not there before',
  gone: 'it has ended',
  once: 'a single dump does not show whether it makes progress',
};

// {thread: in the last dump that contains it, key: for links, seen: [{dump, thread, standing, words}], verdict,
// history}
const threadEntries = (() => {
  if (hang) {
    return hang.threads.map((history) => {
      const seen = history.seen.map(([at, thread, standing, words]) =>
        ({dump: at, thread: dumps[at].threads[thread], standing, words: readable(strings[words])}));
      return {thread: seen[seen.length - 1].thread, seen, verdict: history.verdict, history};
    });
  }
  const byId = new Map();
  dumps.forEach((each, at) => each.threads.forEach((thread) => {
    const entry = byId.get(thread.id) ?? {seen: [], verdict: null, history: null};
    entry.seen.push({dump: at, thread, standing: null, words: ''});
    entry.thread = thread;
    byId.set(thread.id, entry);
  }));
  return [...byId.values()].sort((a, b) => a.thread.id - b.thread.id);
})();
// A key for each thread, for links. Threads of several processes may have the same id, and the system gives an id again.
// The key of the second one is 0x1a8.2, for example.
function keysOf(threads) {
  const times = new Map();
  return threads.map(({id}) => {
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    return time === 1 ? hex(id) : `${hex(id)}.${time}`;
  });
}
const entryOf = new Map();  // the key is a thread of a dump
{
  const keys = keysOf(threadEntries.map(({thread}) => thread));
  threadEntries.forEach((entry, i) => {
    entry.key = keys[i];
    for (const {thread} of entry.seen) entryOf.set(thread, entry);
  });
}
if (recording) keysOf(recording.threads).forEach((key, i) => { recording.threads[i].key = key; });
const keyOf = (thread) => entryOf.get(thread)?.key ?? thread.key;

const linkOf = (thread) => `#thread=${keyOf(thread)}`;
const keyIn = (link) => new URLSearchParams(link.hash.slice(1)).get('thread');
const dumpTitle = (at) => `Dump ${at + 1}`;

// "Dump 2, 10 s after the first".
function dumpTime(at) {
  const ms = dumps[at].time_ms - dumps[0].time_ms;
  return at === 0 || !(ms > 0) ? utc(dumps[at].time_ms) : `${duration(ms * 1e6)} after the first`;
}

// "stuck since dump 1, for 20 s; used 0 s of CPU time".
function verdictText({verdict, history, thread}) {
  if (!verdict || verdict === 'once') return '';
  // A thread that waits for a stuck thread may have begun to wait only after the dump before.
  const stood = verdict !== 'stuck' || history.since < thread.dump;
  const since = history.ms && stood ? ` since dump ${history.since + 1}, for ${duration(history.ms * 1e6)} at least` : '';
  const cpu = history.cpu === undefined ? '' : `; used ${history.cpu ? `${duration(history.cpu * 100)} of` : 'no'} CPU time`;
  return `${verdict}${['stuck', 'spinning', 'waiting', 'idle'].includes(verdict) ? since : ''}${cpu}`;
}

const verdictBadge = (verdict) => (verdict && verdict !== 'once'
    ? el('span', {class: `verdict ${verdict}`, title: VERDICTS[verdict]}, verdict) : null);
