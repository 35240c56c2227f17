// The page: its head, its views, and how a user gets to them.

const byId = (id) => document.getElementById(id);

// A view is made when it is first shown. Each has an element, and may have take(address), draw(), focusList(),
// arrive().
const VIEWS = dumps.length ? [
  ...(hang?.across ? [['across', `${processes.length} processes`, () => ({element: acrossView()})]] : []),
  ['threads', 'Threads', () => new ThreadsView()],
  ['groups', 'Alike', () => ({element: groupsView()})],
  ['tree', 'Parallel stacks', () => ({element: treeView()})],
  ['flame', 'Flame graph', () => new FlameView()],
  ...(dump.locks.length || dump.locks_missing ? [['locks', `Locks (${dump.locks.length})`, () => ({element: locksView()})]] : []),
  ...(dump.tasks ? [['tasks', `Tasks (${dump.chains})`, () => ({element: tasksView()})]] : []),
] : compared ? [
  ['flame', 'Flame graph', () => new DifferenceView()],
  ['frames', 'Frames', () => new ChangesView()],
] : [
  ['flame', 'Flame graph', () => new FlameView()],
  ['timeline', 'Over time', () => new TimelineView()],
];
const made = new Map();
let shown = null;
const addresses = new Map();  // by view: the address that it had last

function head() {
  const {process, runtime} = report;
  // Several processes may be of several programs.
  const programs = isFleet ? [...new Set(processes.map(({path}) => fileName(path)))] : [readable(fileName(process.path))];
  const name = programs.length > 1 ? plural(programs.length, 'program') : programs[0] || 'process';
  const kind = compared ? 'two recordings' : recording ? 'recording' : isSeries ? plural(dumps.length, 'dump') : 'dump';
  const which = isFleet ? `${processes.length} processes` : compared ? 'before and after' : `process ${process.id}`;
  document.title = `${name} ${which} – mixwalk ${kind}`;
  byId('view-kind').textContent = kind;
  byId('title').replaceChildren(name, ' ', el('span', {class: 'dim'}, which));
  const facts = [isFleet || compared || !process.host ? '' : `machine ${readable(process.host)}`, isFleet ? '' : readable(runtime), compared || isFleet ? '' : utc((recording ?? dump).time_ms)];
  const notes = report.note ? [readable(report.note)] : [];
  if (isFleet) {
    facts.push(`${plural(threadEntries.length, 'thread')} in all`);
    listLines(sickFirst.map((process) => () => processHead(process)), (count) => `${count.toLocaleString('en')} more process${count === 1 ? '' : 'es'}`);
  } else if (dump) {
    facts.push(...dumpFacts(dump));
    notes.push(...dumpNotes(dump));
    if (isSeries) dumpList();
  } else if (compared) {
    facts.push(compared[1].event);
    byId('dumps').append(...compared.map((each, side) => el('li', {}, `${SIDES[side]}: ${readable(each.file)}, process ${each.process}, ` +
        `${utc(each.time_ms)}, ${plural(each.samples, 'sample')}, ${duration(each.duration_ns)}, ${plural(each.threads.length, 'thread')}${each.rate && `, ${each.rate}`}${each.standings && `; ${each.standings}`}`)));
    compared.forEach(({dropped}, side) => dropped && notes.push(`${SIDES[side]}: ${plural(dropped, 'sample')} got lost: the reader was too slow.`));
  } else {
    facts.push(`${recording.event}, ${plural(recording.samples, 'sample')}`, duration(recording.duration_ns),
               plural(recording.threads.length, 'thread'));
    if (recording.standings) facts.push(recording.standings);
    if (recording.rate || recording.period_ns) facts.push(recording.rate || `every ${duration(recording.period_ns)}, as asked for`);
    if (recording.dropped) notes.push(`${plural(recording.dropped, 'sample')} got lost: the reader was too slow.`);
  }
  byId('facts').append(...facts.filter(Boolean).map((fact) => el('li', {}, fact)));
  if (process.command_line && !isFleet && !compared) byId('facts').append(el('li', {class: 'mono ellipsis', title: readable(process.command_line)}, readable(process.command_line).slice(0, 200)));
  byId('notes').append(...notes.map((note) => el('li', {}, note)));
  byId('made-by').textContent = `Made by ${readable(report.tool)}. This file makes no network requests.`;
}

function dumpFacts(of) {
  const facts = [];
  const count = (fits) => of.threads.filter(fits).length;
  facts.push(`${plural(of.threads.length, 'thread')}: ${count(({managed}) => managed)} managed`,
             `${count(({state, skipped}) => state === 'whole' && !skipped)} whole stacks`);
  const guessed = count(({state, skipped}) => state === 'guessed' && !skipped);
  const skipped = count(({skipped: why}) => why);
  if (guessed) facts.push(`${guessed} with guessed frames`);
  if (skipped) facts.push(`${skipped} skipped`);
  if (of.moments.length === 1 && of.threads.every(({moment, skipped: why}) => moment || why)) {
    facts.push(`one moment: all threads were suspended together for ${duration(of.moments[0])}`);
  } else if (of.moments.length) {
    facts.push(`${plural(of.moments.length, 'moment')}, of ${of.moments.map(duration).join(', ')}`);
  }
  if (of.way === 'file') facts.push('from a dump file');
  if (of.pool) facts.push(`thread pool: ${of.pool}`);
  return facts;
}

function dumpNotes(of) {
  const notes = [];
  if (of.way === 'outside') notes.push(`From outside: ${of.way_words}${of.way_reason ? ` (${readable(of.way_reason)})` : ''}.`);
  if (of.unasked) notes.push(`Managed frames are missing: ${readable(of.unasked)}`);
  if (of.tasks_missing) notes.push(`Tasks may be missing: ${readable(of.tasks_missing)}`);
  if (of.managed_only) notes.push('Only managed frames are shown.');
  if (of.depth) notes.push(`No more than ${plural(of.depth, 'frame')} of each stack.`);
  return notes;
}

// When each dump was made, and from which file it is.
function dumpList() {
  listLines(dumps.map((each, at) => () => `${dumpTitle(at)}: ${dumpTime(at)}${hang ? `, ${readable(hang.files[at])}` : ''}`),
            (count) => plural(count, 'more dump'));
}

// When each dump of a process was made. For a long series, only the first ones and the last are listed.
function madeLines(process) {
  const MOST = 10;
  const line = (at) => `${dumpTitle(at)}: ${utc(dumps[at].time_ms)}, ${readable(hang.files[at])}`;
  const {dumps: all} = process;
  if (all.length <= MOST) return all.map(line);
  return [...all.slice(0, MOST - 2).map(line), plural(all.length - MOST + 1, 'more dump'), line(process.last)];
}

// For one of several processes: the facts that the head of the page has for a single one. They are those of its last
// dump.
function processHead(process) {
  const last = dumps[process.last];
  const facts = [process.host && `machine ${process.host}`, `process ${process.id}`, process.path.slice(0, 200), process.runtime, ...dumpFacts(last), process.command.slice(0, 200)];
  return [el('b', {}, process.name), ` ${facts.filter(Boolean).join(' · ')}`,
          ...madeLines(process).map((line) => el('p', {}, line)), ...dumpNotes(last).map((note) => el('p', {}, note))];
}

// Lists the first lines, and a button that makes the others.
function listLines(lines, rest) {
  const MOST = 12;
  const shown = lines.length > MOST ? lines.slice(0, MOST - 2) : lines;
  const left = lines.slice(shown.length);
  const item = (line) => el('li', {}, ...[line()].flat());
  const more = el('li', {}, el('button', {type: 'button', class: 'quiet', onclick: () => {
    more.replaceWith(allOf(left.map(item)));
  }}, rest(left.length)));
  byId('dumps').append(allOf(shown.map(item)), left.length ? more : '');
}

function findings() {
  if (!hang && !dump?.crash) return;
  byId('findings').hidden = false;
  byId('findings').append(allOf(hang ? findingsView() : [crashCard(dump)]));
}

function legend() {
  const used = new Set(dump ? [...frames.kind].filter((letter) => letter !== 'W') : frames.kind);
  const items = Object.entries(KINDS).filter(([letter]) => used.has(letter))
      .map(([letter, {name, style, says}]) => [badge(style, letter === 'G' ? '···' : letter), name, says]);
  if (frames.flags.some((flags) => flags & (FLAG.scanned | FLAG.framePointer))) items.push([badge('native guess', '?'), 'guessed', GUESS_SAYS]);
  if (dump?.threads.some((thread) => thread.async) || dump?.tasks) items.push([badge('async', 'A'), 'task', 'no frame: what waits for what']);
  if (dump) {
    const states = new Set(dump.threads.filter(({skipped}) => !skipped).map(({state}) => state));
    for (const [state, {sign, says}] of Object.entries(STATES)) {
      if (states.has(state)) items.push([el('span', {class: `state ${state}`, 'aria-hidden': 'true'}, sign), state, says]);
    }
  }
  for (const [verdict, says] of Object.entries(VERDICTS)) {
    if (verdict !== 'once' && threadEntries.some((entry) => entry.verdict === verdict)) items.push([verdictBadge(verdict), '', says]);
  }
  if (frames.flags.some((flags) => flags & FLAG.approximate)) items.push([el('span', {class: 'mono'}, ':~42'), 'about this line', 'the compiler may have moved code']);
  byId('legend').append(el('h2', {}, 'Legend'),
      el('ul', {}, ...items.map(([sign, name, says]) => el('li', {}, sign, name && el('b', {}, name), ` ${says}`))));
  byId('keys').replaceChildren('Keys: ', ...[['/', 'search'], ['↑ ↓', 'from thread to thread'], ['Enter', 'open'], ['Esc', 'clear']]
      .flatMap(([key, what], i) => [i ? ', ' : '', el('kbd', {}, key), ` ${what}`]));
}

// The address behind '#': "view=tree", "thread=0x1a8", "view=flame&search=Price&zoom=12".
const address = () => new URLSearchParams(location.hash.slice(1));
function viewOf(parameters) {
  const known = (wanted) => VIEWS.some(([name]) => name === wanted);
  if (known(parameters.get('view'))) return parameters.get('view');
  return parameters.has('thread') && known('threads') ? 'threads' : VIEWS[0][0];
}

function show() {
  const view = viewOf(address());
  if (!made.has(view)) made.set(view, VIEWS.find(([name]) => name === view)[2]());
  const panel = made.get(view);
  if (shown !== view) {
    shown = view;
    const ofLast = isFleet && !['across', 'threads'].includes(view);
    byId('main').replaceChildren(el('div', {role: 'tabpanel', id: 'panel', 'aria-labelledby': `tab-${view}`},
        ofLast ? el('p', {class: 'hint'}, `Of the last dump alone: ${readable(hang.files[dumps.length - 1])}.`) : null, panel.element));
    for (const tab of document.querySelectorAll('[role=tab]')) {
      const current = tab.id === `tab-${view}`;
      tab.setAttribute('aria-selected', String(current));
      tab.tabIndex = current ? 0 : -1;
    }
  }
  addresses.set(view, location.hash);
  panel.take?.(address());
}

// Changes parts of the address, and shows what it says then. `replace`: without a step of the browser's history.
function go(changes, replace = false) {
  const parameters = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value) parameters.set(name, value);
    else parameters.delete(name);
  }
  history[replace ? 'replaceState' : 'pushState'](null, '', `#${parameters}`);
  show();
}

function tabs() {
  const list = byId('tabs');
  list.append(...VIEWS.map(([name, text]) => el('button', {type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'panel',
      onclick: () => { location.hash = addresses.get(name) || `view=${name}`; }}, text)));
  list.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    const all = [...list.children];
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    next.focus();
    next.click();
    event.preventDefault();
  });
}

function theme() {
  const KEY = 'mixwalk-theme';
  const button = byId('theme');
  const set = (name) => {
    document.documentElement.dataset.theme = name;
    button.textContent = name === 'dark' ? 'Light theme' : 'Dark theme';
  };
  let kept = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch { /* a file may have no storage: the system's theme, then */ }
  const system = matchMedia('(prefers-color-scheme: dark)');
  set(kept ?? (system.matches ? 'dark' : 'light'));
  system.addEventListener('change', () => kept ?? set(system.matches ? 'dark' : 'light'));
  button.addEventListener('click', () => {
    kept = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    set(kept);
    try {
      localStorage.setItem(KEY, kept);
    } catch { /* as above */ }
    made.get(shown)?.draw?.();
  });
}

// When the page is printed, all stacks are on paper, whatever the screen shows. A stack is plain text, and only the
// first of equal stacks is printed: a browser cannot print a million elements.
function printing() {
  if (!dump) return;
  addEventListener('beforeprint', () => {
    const first = new Map();
    byId('print').replaceChildren(allOf(dump.threads.map((thread) => {
      const same = first.get(thread.leaf);
      if (!same && thread.leaf >= 0) first.set(thread.leaf, thread);
      return el('section', {}, threadHead(thread, []),
          same ? el('p', {}, `The same frames as of ${threadTitle(same)}.`) : el('pre', {class: 'stack'}, stackLines(thread)));
    })));
  });
  addEventListener('afterprint', () => byId('print').replaceChildren());
}

addEventListener('keydown', (event) => {
  const typing = event.target.matches('input[type=search], select');
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const search = byId('search');
  if (event.key === '/' && !typing) {
    search?.focus();
    event.preventDefault();
  } else if (event.target === search && shown === 'threads' && (event.key === 'ArrowDown' || event.key === 'Enter')) {
    made.get('threads').focusList();
    event.preventDefault();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && event.target === document.body && shown === 'threads') {
    made.get('threads').focusList();
    event.preventDefault();
  }
});
addEventListener('hashchange', () => {
  show();
  made.get(shown).arrive?.();
});

theme();
head();
findings();
legend();
tabs();
printing();
show();
if (address().has('thread')) made.get(shown).arrive?.();
