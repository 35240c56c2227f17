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

// Only the rows that are on the screen, and this many before and after them, are in the page.
const ROW_HEIGHT = 56, ROWS_BEYOND = 20;  // pixels, as report.css has it; rows

class ThreadsView {
  constructor() {
    this.threads = threadEntries.map((entry, i) => ({entry, thread: entry.thread, i, main: mainFrame(entry.thread), alike: 1, title: threadTitle(entry.thread).toLowerCase()}));
    const alike = new Map();
    for (const {thread} of this.threads) alike.set(alikes[thread.leaf], (alike.get(alikes[thread.leaf]) ?? 0) + 1);
    for (const row of this.threads) row.alike = row.thread.leaf < 0 ? 1 : alike.get(alikes[row.thread.leaf]);
    this.state = {search: '', filter: 'all', sort: hang ? 'verdict' : 'id', module: '', process: '', open: false, left: null, right: null};
    this.selected = null;
    this.unknown = null;  // the key of a thread that is not there
    this.element = this.build();
    this.sort();
  }

  build() {
    const set = (name) => (value) => {
      this.state[name] = value;
      if (name === 'sort') this.sort();
      this.update();
      if (name === 'module') this.show();
    };
    this.searchBox = searchBox('Search threads and frames', 'search', (search) => go({search}, true));
    this.list = el('ul', {id: 'thread-list', 'aria-label': 'Threads'});
    this.scroller = el('div', {class: 'threads'}, this.list);
    this.scroller.addEventListener('scroll', () => this.fill());
    this.observer = new ResizeObserver(() => this.fill());
    this.observer.observe(this.scroller);
    this.count = el('p', {class: 'count', role: 'status'});
    this.detail = el('section', {class: 'detail', id: 'thread-detail', 'aria-label': 'Stack'});
    this.note = el('p', {class: 'notes', role: 'status', hidden: true}, 'The list does not have this thread, because of the search or the filters.');
    this.list.addEventListener('keydown', (event) => this.move(event));
    this.list.addEventListener('click', (event) => {
      const link = event.target.closest('a');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go({thread: keyIn(link)});
      this.arrive();
    });
    return el('div', {class: 'threads-view'},
        el('section', {class: 'side', 'aria-label': 'Thread list'},
            this.searchBox,
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
            this.count, this.scroller),
        this.detail);
  }

  // The verdicts that threads have, the most severe first.
  verdicts() {
    return Object.keys(VERDICTS).filter((verdict) => verdict !== 'once' && threadEntries.some((entry) => entry.verdict === verdict));
  }

  // Modules with the number of threads whose stacks contain them, the largest number first.
  modules() {
    const counts = new Map();
    for (const {thread: {leaf}} of threadEntries) {
      for (const name of new Set(stackOf(leaf).map((frame) => moduleNames[frame]))) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    counts.delete('');
    return [['', 'all modules'], ...[...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
        .map(([name, threads]) => [name, `${name} (${threads})`])];
  }

  // Says for a row whether the search and the filters leave it.
  fits() {
    const {search, filter, module, process} = this.state;
    const hits = search && nodesWith(framesWith(search));
    const inModule = module && nodesWith(moduleNames.map((name) => name === module));
    return ({thread, entry, title}) => {
      if (filter.startsWith('verdict ') && entry.verdict !== filter.slice(8)) return false;
      if (process && processOf(thread) !== processes[Number(process)]) return false;
      if (filter === 'managed' && !thread.managed) return false;
      if (filter === 'native' && thread.managed) return false;
      if (filter === 'locks' && !locksOf(thread).waits.length) return false;
      if (filter === 'partial' && (thread.skipped || thread.state === 'whole')) return false;
      if (filter === 'skipped' && !thread.skipped) return false;
      if (module && (thread.leaf < 0 || !inModule[thread.leaf])) return false;
      return !search || (thread.leaf >= 0 && hits[thread.leaf] === 1) || title.includes(search);
    };
  }

  // Puts all rows into the chosen order.
  sort() {
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
    }[this.state.sort];
    this.threads.sort((a, b) => order(a, b) || a.i - b.i);
  }

  update() {
    this.shown = this.threads.filter(this.fits());
    this.list.style.height = `${this.shown.length * ROW_HEIGHT}px`;
    this.count.textContent = this.shown.length === this.threads.length ? plural(this.shown.length, 'thread')
        : `${this.shown.length.toLocaleString('en')} of ${plural(this.threads.length, 'thread')}`;
    this.fill();
    this.noteHidden();
  }

  // Puts the rows that are on the screen into the page. A row that stays keeps the focus.
  fill() {
    const {scrollTop, clientHeight} = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - ROWS_BEYOND);
    const rows = this.shown.slice(first, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + ROWS_BEYOND);
    const items = rows.map((row, i) => {
      this.link(row);
      row.item ??= el('li', {}, row.link);
      row.item.setAttribute('aria-setsize', String(this.shown.length));
      row.item.setAttribute('aria-posinset', String(first + i + 1));
      row.item.style.top = `${(first + i) * ROW_HEIGHT}px`;
      return row.item;
    });
    const kept = new Set(items);
    for (const item of [...this.list.children]) if (!kept.has(item)) item.remove();
    let at = this.list.firstChild;
    for (const item of items) {
      if (item === at) at = at.nextSibling;
      else this.list.insertBefore(item, at);
    }
  }

  noteHidden() {
    this.note.hidden = !this.selected || this.shown.some(({thread}) => thread === this.selected);
  }

  link(row) {
    const {thread, main} = row;
    row.link ??= el('a', {href: linkOf(thread)},
        el('span', {class: 'line'},
            el('span', {class: 'id'}, hex(thread.id)),
            el('span', {class: 'thread-name'}, threadName(thread)), roleTag(thread),
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
    const at = this.shown.findIndex(({link}) => link && link === document.activeElement);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.shown.length - 1}[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const row = this.shown[Math.max(0, Math.min(to, this.shown.length - 1))];
    if (!row) return;
    go({thread: row.entry.key}, true);
    this.focus(row);
  }

  focus(row) {
    this.reveal(row);
    row?.link.focus({preventScroll: true});
  }

  focusList() { this.focus(this.shown.find(({thread}) => thread === this.selected) ?? this.shown[0]); }

  // Takes over what the address says.
  take(address) {
    const search = address.get('search') ?? '';
    const other = search.toLowerCase() !== this.state.search;
    this.state.search = search.toLowerCase();
    fillSearch(this.searchBox, search);
    if (other || !this.shown) this.update();
    this.select(address.get('thread'), other);
  }

  // Selects a thread by its key; null selects the first of the list, unless a thread is selected. `again`: the search
  // has changed, so that other parts of the stack are marked.
  select(key, again) {
    const first = () => (this.selected && !this.unknown ? null : this.shown[0]);
    const row = key === null ? first() : this.threads.find(({entry}) => entry.key === key);
    this.unknown = key !== null && !row ? key : null;
    const thread = this.unknown ? null : row?.thread ?? this.selected;
    if (thread !== this.selected || this.unknown) {
      this.selected = thread;
      this.state.left = this.state.right = null;
      this.reveal(row);
      this.noteHidden();
      this.show();
    } else if (again) {
      this.show();
    }
  }

  // To be called after a link led here, because the stack may be below the findings, or below the list on a phone.
  arrive() {
    const {top} = this.detail.getBoundingClientRect();
    if (top > innerHeight * 0.6 || top < 0) this.detail.scrollIntoView();
  }

  // Scrolls the list, but not the page around it, to a row.
  reveal(row) {
    const top = this.shown.indexOf(row) * ROW_HEIGHT;
    const {scroller} = this;
    if (top >= 0 && (top < scroller.scrollTop || top + ROW_HEIGHT > scroller.scrollTop + scroller.clientHeight)) {
      scroller.scrollTop = top - scroller.clientHeight / 3;
    }
    this.fill();
  }

  show() {
    const thread = this.selected;
    if (!thread) {
      this.detail.replaceChildren(el('p', {class: 'empty', role: 'status'},
          this.unknown ? `There is no thread ${readable(this.unknown)} here.` : 'No thread.'));
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
    this.detail.replaceChildren(this.note, ...threadHead(thread, [thread.folds && toggle, copyButton(() => stackText(thread))]), ...body);
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
                 el('span', {class: 'thread-name'}, threadName(thread)), ' ', roleTag(thread)),
             el('div', {class: 'buttons'}, ...buttons.filter(Boolean))),
          el('ul', {class: 'facts small'}, ...facts.map((fact) => el('li', {}, fact))),
          entry && entry.seen.length > 1 ? null : lockLines(thread),
          waitWords(thread, entry),
          thread.handles
              ? el('ul', {class: 'notes'}, ...thread.handles.map((line) => el('li', {}, readable(line)))) : null,
          thread.why ? el('ul', {class: 'notes'}, ...thread.why.map((why) => el('li', {}, why))) : null].filter(Boolean);
}

// What the thread waits for, by its frames. Of a dump alone, a lock that it waits for says more.
function waitWords(thread, entry) {
  const compared = entry && entry.seen.length === 1 && entry.seen[0].words;
  const words = compared || (!entry?.seen[0].words && !locksOf(thread).waits.length && thread.wait);
  return words ? el('p', {class: 'words'}, readable(words)) : null;
}

function threadBody(thread, shown) {
  if (thread.leaf >= 0) {
    const stack = stackView(thread, shown);
    return thread.async ? el('div', {}, stack, asyncList(thread.async)) : stack;
  }
  return el('p', {class: 'empty'}, thread.skipped ? `This thread was skipped: ${readable(thread.skipped)}.`
                                                  : 'Nothing was found.');
}
