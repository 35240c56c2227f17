// The list of threads, with search, filters and order. Beside it is the stack of the thread that was chosen.

const STATES = {whole: {sign: '●', says: 'whole stack'}, guessed: {sign: '◐', says: 'whole, with guessed frames'},
                partial: {sign: '○', says: 'frames are missing'}};

// The most important frame of a stack, given leaf first: the program's own managed frame nearest to the leaf, else one
// of the library, else the leaf.
function mainOf(stack) {
  const managed = stack.filter((frame) => frames.kind[frame] === 'M');
  return managed.find((frame) => !/^(System|Microsoft|Interop|Internal)\b/.test(labels[frame])) ?? managed[0] ?? stack[0];
}
const mainFrame = (thread) => mainOf(stackOf(thread.leaf));

class ThreadsView {
  constructor() {
    this.threads = threadEntries.map((entry, i) => ({entry, thread: entry.thread, i, main: mainFrame(entry.thread), alike: 1}));
    const alike = new Map();
    for (const {thread} of this.threads) alike.set(alikes[thread.leaf], (alike.get(alikes[thread.leaf]) ?? 0) + 1);
    for (const row of this.threads) row.alike = row.thread.leaf < 0 ? 1 : alike.get(alikes[row.thread.leaf]);
    this.state = {search: '', filter: 'all', sort: hang ? 'verdict' : 'id', module: '', process: '', open: false, left: null, right: null};
    this.selected = null;
    this.element = this.build();
    this.update();
  }

  build() {
    const set = (name) => (value) => {
      this.state[name] = name === 'search' ? value.toLowerCase() : value;
      this.update();
      if (name === 'search' || name === 'module') this.show();
    };
    this.list = el('ul', {class: 'threads', id: 'thread-list', 'aria-label': 'Threads'});
    this.count = el('p', {class: 'count', role: 'status'});
    this.detail = el('section', {class: 'detail', id: 'thread-detail', 'aria-label': 'Stack'});
    this.list.addEventListener('keydown', (event) => this.move(event));
    return el('div', {class: 'threads-view'},
        el('section', {class: 'side', 'aria-label': 'Thread list'},
            searchBox('Search threads and frames', 'search', set('search')),
            el('div', {class: 'choices'},
                choice('Show', 'filter', [['all', 'all threads'], ['managed', 'managed threads'],
                                          ['native', 'native only'], ['locks', 'waiting for a lock'],
                                          ['partial', 'not whole'], ['skipped', 'skipped'],
                                          ...this.verdicts().map((verdict) => [`verdict ${verdict}`, verdict])], set('filter')),
                isFleet && choice('Process', 'process', [['', 'all processes'], ...processes.map(({name}, i) => [String(i), name])], set('process')),
                choice('Module', 'module', this.modules(), set('module')),
                choice('Sort by', 'sort', [...(hang ? [['verdict', 'verdict']] : []), ['id', 'id'], ['name', 'name'], ['frames', 'frames, most first'],
                                           ['alike', 'alike, most first'], ['state', 'completeness'],
                                           ...(dump.threads.some(({cpu}) => cpu !== undefined)
                                               ? [['cpu', 'CPU time, most first']] : [])], set('sort'))),
            this.count, this.list),
        this.detail);
  }

  // The verdicts that threads have, the most severe first.
  verdicts() {
    return Object.keys(VERDICTS).filter((verdict) => verdict !== 'once' && threadEntries.some((entry) => entry.verdict === verdict));
  }

  // Modules with the number of threads whose stacks contain them, the largest number first.
  modules() {
    const names = [...new Set(moduleNames)].filter(Boolean);
    const of = new Map(names.map((name) => [name, nodesWith(moduleNames.map((each) => each === name))]));
    const count = (name) => threadEntries.filter(({thread: {leaf}}) => leaf >= 0 && of.get(name)[leaf]).length;
    return [['', 'all modules'], ...names.map((name) => [name, count(name)]).filter(([, threads]) => threads)
        .sort(([a, x], [b, y]) => y - x || a.localeCompare(b)).map(([name, threads]) => [name, `${name} (${threads})`])];
  }

  // The rows that the filters leave, in the chosen order.
  rows() {
    const {search, filter, sort, module, process} = this.state;
    const hits = search && nodesWith(framesWith(search));
    const inModule = module && nodesWith(moduleNames.map((name) => name === module));
    const fits = ({thread, entry}) => {
      if (filter.startsWith('verdict ') && entry.verdict !== filter.slice(8)) return false;
      if (process && processOf(thread) !== processes[Number(process)]) return false;
      if (filter === 'managed' && !thread.managed) return false;
      if (filter === 'native' && thread.managed) return false;
      if (filter === 'locks' && !locksOf(thread).waits.length) return false;
      if (filter === 'partial' && (thread.skipped || thread.state === 'whole')) return false;
      if (filter === 'skipped' && !thread.skipped) return false;
      if (module && (thread.leaf < 0 || !inModule[thread.leaf])) return false;
      return !search || (thread.leaf >= 0 && hits[thread.leaf]) || threadTitle(thread).toLowerCase().includes(search);
    };
    const depth = ({thread}) => (thread.leaf < 0 ? 0 : depths[thread.leaf]);
    const grave = ({entry}) => Object.keys(VERDICTS).indexOf(entry.verdict ?? 'once');
    const order = {
      verdict: (a, b) => grave(a) - grave(b) || b.alike - a.alike,
      id: (a, b) => a.thread.id - b.thread.id,
      name: (a, b) => !a.thread.name - !b.thread.name || a.thread.name.localeCompare(b.thread.name),
      frames: (a, b) => depth(b) - depth(a),
      alike: (a, b) => b.alike - a.alike || alikes[a.thread.leaf] - alikes[b.thread.leaf],
      state: (a, b) => Object.keys(STATES).indexOf(b.thread.state) - Object.keys(STATES).indexOf(a.thread.state),
      cpu: (a, b) => (b.thread.cpu ?? -1) - (a.thread.cpu ?? -1),
    }[sort];
    return this.threads.filter(fits).sort((a, b) => order(a, b) || a.i - b.i);
  }

  update() {
    const rows = this.rows();
    this.list.replaceChildren(allOf(rows.map((row) => el('li', {}, this.link(row)))));
    this.count.textContent = rows.length === this.threads.length ? plural(rows.length, 'thread')
        : `${rows.length.toLocaleString('en')} of ${plural(this.threads.length, 'thread')}`;
  }

  link(row) {
    const {thread, main} = row;
    row.link ??= el('a', {href: linkOf(thread)},
        el('span', {class: 'line'},
            el('span', {class: 'id'}, hex(thread.id)),
            el('span', {class: 'thread-name'}, threadName(thread)),
            isFleet ? el('span', {class: 'ellipsis dim small'}, processOf(thread).name) : null,
            row.alike > 1 ? el('span', {class: 'alike', title: `${row.alike} threads stand in the same functions`}, `×${row.alike}`) : null,
            verdictBadge(row.entry.verdict),
            thread.skipped ? null : el('span', {class: `state ${thread.state}`, title: STATES[thread.state].says, role: 'img',
                                                 'aria-label': STATES[thread.state].says}, STATES[thread.state].sign)),
        el('span', {class: 'line second'}, ...(main === undefined
            ? [thread.skipped ? `skipped: ${readable(thread.skipped)}` : 'no frames']
            : [badge(kindOf(main).style, letterOf(main)), spoken(`${kindOf(main).name}: `),
               el('span', {class: 'ellipsis'}, partsOf(main).slice(0, 2).join('').replace(/^.*?!/, ''))])));
    if (thread === this.selected) row.link.setAttribute('aria-current', 'true');
    else row.link.removeAttribute('aria-current');
    return row.link;
  }

  // The keys Up and Down go from thread to thread, and show each.
  move(event) {
    const links = [...this.list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1}[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const link = links[Math.max(0, Math.min(to, links.length - 1))];
    if (!link) return;
    link.focus({preventScroll: true});
    this.reveal(link);
    replaceHash(link.getAttribute('href'));
  }

  focusList() {
    (this.list.querySelector('[aria-current]') ?? this.list.querySelector('a'))?.focus({preventScroll: true});
  }

  // Selects a thread by its key; null selects the first of the list.
  select(key) {
    const row = key === null ? this.selected ? null : this.rows()[0] : this.threads.find(({entry}) => entry.key === key);
    if (!row || row.thread === this.selected) return;
    this.selected = row.thread;
    this.state.left = this.state.right = null;
    for (const each of this.threads) if (each.link) this.link(each);
    this.reveal(row.link);
    this.show();
  }

  // To be called after a link led here, because the stack may be below the findings, or below the list on a phone.
  arrive() {
    const {top} = this.detail.getBoundingClientRect();
    if (top > innerHeight * 0.6 || top < 0) this.detail.scrollIntoView();
  }

  // Scrolls the list, but not the page around it.
  reveal(link) {
    const item = link?.parentElement;
    if (!item) return;
    const {list} = this;
    if (item.offsetTop < list.scrollTop || item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = item.offsetTop - list.clientHeight / 3;
    }
  }

  show() {
    const thread = this.selected;
    if (!thread) {
      this.detail.replaceChildren(el('p', {class: 'empty'}, 'No thread.'));
      return;
    }
    const toggle = el('button', {type: 'button', class: 'quiet', 'aria-pressed': String(this.state.open),
                                 onclick: () => {
                                   this.state.open = !this.state.open;
                                   this.show();
                                   this.detail.querySelector('[aria-pressed]')?.focus();
                                 }}, 'Show every frame');
    const entry = entryOf.get(thread);
    const body = entry.seen.length > 1 ? comparedView(entry, this.state, (side, at) => {
      this.state[side] = at;
      this.show();
      this.detail.querySelector(`[aria-label='Dump ${side}']`)?.focus();
    }) : [threadBody(thread, this.state)];
    this.detail.replaceChildren(...threadHead(thread, [thread.folds && toggle, copyButton(() => stackText(thread))]), ...body);
  }
}

function copyButton(text) {
  const button = el('button', {type: 'button', class: 'quiet', onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'The browser refused to copy';
    }
    setTimeout(() => { button.textContent = 'Copy as text'; }, 2000);
  }}, 'Copy as text');
  return button;
}

function threadHead(thread, buttons) {
  const entry = entryOf.get(thread);
  const at = dumps[thread.dump];
  const facts = [thread.managed ? 'managed' : 'native only'];
  const verdict = entry && verdictText(entry);
  if (verdict) facts.unshift(verdict);
  if (isFleet) facts.unshift(processOf(thread).name);
  if (thread.skipped) {
    facts.push(`skipped: ${readable(thread.skipped)}`);
  } else {
    facts.push(`${thread.state}: ${countsText(thread)}`);
  }
  if (thread.copied) facts.push(`walked from the copy: ${thread.copied}`);
  if (at && at.moments.length > 1) facts.push(thread.moment ? `moment ${thread.moment}` : 'frozen alone');
  if (thread.cpu !== undefined) facts.push(`${duration(thread.cpu * 100)} of CPU time so far`);
  return [el('div', {class: 'detail-head'}, el('h2', {}, `Thread ${hex(thread.id)} `,
                 el('span', {class: 'thread-name'}, threadName(thread))),
             el('div', {class: 'buttons'}, ...buttons.filter(Boolean))),
          el('ul', {class: 'facts small'}, ...facts.map((fact) => el('li', {}, fact))),
          entry && entry.seen.length > 1 ? null : lockLines(thread),
          entry && entry.seen.length === 1 && entry.seen[0].words ? el('p', {class: 'words'}, entry.seen[0].words) : null,
          thread.why ? el('ul', {class: 'notes'}, ...thread.why.map((why) => el('li', {}, why))) : null].filter(Boolean);
}

function threadBody(thread, shown) {
  if (thread.leaf >= 0) return stackView(thread, shown);
  return el('p', {class: 'empty'}, thread.skipped ? `This thread was skipped: ${readable(thread.skipped)}.`
                                                  : 'Nothing was found.');
}
