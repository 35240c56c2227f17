// Locks that are held or waited for.

// For a dump: its threads by id, and the locks that each waits for and holds. Made when they are first needed.
const threadTables = [];
function threadTablesOf(at) {
  if (threadTables[at]) return threadTables[at];
  const tables = {threads: new Map(), waits: new Map(), holds: new Map()};
  const add = (table, id, lock) => {
    if (!table.has(id)) table.set(id, new Set());
    table.get(id).add(lock);
  };
  for (const thread of dumps[at].threads) {
    if (!tables.threads.has(thread.id)) tables.threads.set(thread.id, thread);
  }
  for (const lock of dumps[at].locks) {
    for (const [id] of lock.waiters) add(tables.waits, id, lock);
    for (const id of lock.owner ? [lock.owner] : lock.sharers ?? []) add(tables.holds, id, lock);
  }
  return threadTables[at] = tables;
}

// A link to a thread of a dump, by the thread's id.
function threadLink(id, at = dumps.length - 1) {
  const thread = threadTablesOf(at).threads.get(id);
  return thread ? el('a', {href: linkOf(thread)}, threadTitle(thread)) : `Thread ${hex(id)}`;
}
const lockTitle = (lock) => [lock.kind, lock.type && (lock.address ? `of ${readable(lock.type)}` : readable(lock.type)), lock.address && `at ${lock.address}`]
  .filter(Boolean).join(' ');

// The locks that a thread waits for, and those that it holds.
function locksOf(thread) {
  if (!dumps[thread.dump]) return {waits: [], holds: []};  // a recording has no locks
  const {waits, holds} = threadTablesOf(thread.dump);
  return {waits: [...waits.get(thread.id) ?? []], holds: [...holds.get(thread.id) ?? []]};
}

const holderOf = (lock, at) => (lock.owner ? [threadLink(lock.owner, at)] : lock.by ? [lock.by] : [!lock.address ? 'a thread of another process' : lock.held ? 'an unknown thread' : 'no thread']);

function lockLines(thread) {
  const {waits, holds} = locksOf(thread);
  if (!waits.length && !holds.length) return null;
  const line = (lock) => {
    const pulse = lock.waiters.some(([id, isPulse]) => id === thread.id && isPulse);
    return pulse ? el('li', {}, `waits to be pulsed at the ${lockTitle(lock)}`)
                 : el('li', {}, `waits for the ${lockTitle(lock)}`,
                      ...(lock.owner || lock.address ? [lock.owner_words, ...holderOf(lock, thread.dump)] : []));
  };
  return el('ul', {class: 'lock-lines'}, waits.map(line),
      holds.map((lock) => el('li', {},
          lock.holder_words.endsWith(' ') ? `${lock.holder_words}the ${lockTitle(lock)}` : lock.holder_words,
          lock.waiters.length ? `, for which ${plural(lock.waiters.length, 'thread')} wait${lock.waiters.length === 1 ? 's' : ''}` : '')));
}

// Chains of tasks that no thread waits for or runs, alike ones once.
function tasksView() {
  const left = dump.groups - dump.tasks.length;
  return el('div', {class: 'page'},
      dump.tasks_missing ? el('p', {class: 'notes'}, `Tasks may be missing: ${readable(dump.tasks_missing)}`) : null,
      ...dump.tasks.map((group) => el('section', {class: 'chain-group'},
          el('h2', {}, plural(group.count, 'chain')), asyncList(group.async))),
      left ? el('p', {class: 'notes'}, `${plural(left, 'more kind')} of chains`) : null);
}

function locksView() {
  const rows = dump.locks.map((lock) => el('tr', {},
      el('td', {}, lock.kind), el('td', {class: 'mono'}, lock.address), el('td', {class: 'mono'}, readable(lock.type)),
      el('td', {}, ...holderOf(lock), lock.recursion > 1 ? `, entered ${lock.recursion} times` : ''),
      el('td', {}, el('ul', {class: 'plain'}, lock.waiters.map(([id, pulse]) =>
        el('li', {}, threadLink(id), pulse ? ' (to be pulsed)' : ''))))));
  const head = ['Lock', 'Address', 'Of', 'Held by', 'Waited for by'];
  return el('div', {class: 'page'},
      dump.locks_missing ? el('p', {class: 'notes'}, `Locks may be missing: ${readable(dump.locks_missing)}`) : null,
      el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of locks'}, el('table', {},
          el('caption', {class: 'spoken'}, 'Locks that are held or waited for'),
          el('thead', {}, el('tr', {}, ...head.map((text) => el('th', {scope: 'col'}, text)))),
          el('tbody', {}, rows))));
}
