// Flame graphs, drawn by d3-flame-graph, of a recording's samples or of a dump's threads. The root is on top.

// The fills are light in both themes, so that the labels on them stay dark and readable.
const FILLS = {M: '#8ec3f0', N: '#f3cd78', S: '#e0a9d2', G: '#d0d0d0', W: '#d9e2d0', root: '#c8ced6', found: '#9be564'};

// Calls use(thread's index, leaf, standing, value) for each sum of a recording's samples.
function eachSum({sums}, use) {
  for (let i = 0; i < sums.length; i += 5) use(sums[i], sums[i + 1], sums[i + 2], sums[i + 4]);
}

// For each node that stands for all that are alike, the sum of the stacks through it. Behind the last node: the sum of
// all. `add` calls its argument with each leaf and a value.
function totalsOf(add) {
  const all = parents.length;
  const totals = new Float64Array(all + 1);
  add((leaf, value) => { totals[alikes[leaf]] += value; });
  for (let i = all - 1; i >= 0; --i) {
    const parent = alikeParent(i);
    if (totals[i]) totals[parent < 0 ? all : parent] += totals[i];
  }
  return totals;
}

// The callees of a node among the nodes that stand for all that are alike; of -1, the roots.
const firstCallee = new Int32Array(parents.length + 1).fill(-1);
const nextCallee = new Int32Array(parents.length).fill(-1);
for (let i = parents.length - 1; i >= 0; --i) {
  if (alikes[i] !== i) continue;
  const parent = alikeParent(i) + 1;
  nextCallee[i] = firstCallee[parent];
  firstCallee[parent] = i;
}

class FlameView {
  constructor() {
    this.state = {thread: '', waiting: true, search: '', zoom: -1};
    this.threads = (recording ?? dump)?.threads ?? [];
    this.element = this.build();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.host);
  }

  // Calls use(thread's index, leaf, standing, value) for all samples.
  each(use) {
    if (recording) eachSum(recording, use);
    else this.threads.forEach(({flame, standing}, i) => flame >= 0 && use(i, flame, standing, 1));
  }

  build() {
    this.host = el('div', {class: 'flame', tabindex: '0', role: 'group',
                           'aria-label': 'Flame graph. Arrow keys go from frame to frame, Enter zooms, Escape shows everything.'});
    this.host.addEventListener('keydown', (event) => this.key(event));
    this.details = el('p', {class: 'flame-details', role: 'status'});
    this.found = el('p', {class: 'count', role: 'status'});
    this.waitingBox = el('input', {type: 'checkbox', id: 'flame-waiting', onchange: () => go({waiting: this.waitingBox.checked ? 'out' : ''})});
    this.searchBox = searchBox('Search frames', 'search', (text) => go({search: text}, true));
    return el('div', {class: 'page'},
        el('div', {class: 'bar'}, this.searchBox, this.choices(),
            el('label', {class: 'check'}, this.waitingBox, ' Leave out threads that wait'),
            el('button', {type: 'button', class: 'quiet', onclick: () => go({zoom: ''})}, 'Show everything')),
        this.found, this.host, this.details);
  }

  // The further choices of this view.
  choices() {
    const totals = new Float64Array(this.threads.length);
    this.each((thread, leaf, standing, value) => { totals[thread] += value; });
    const sorted = this.threads.map((thread, i) => [thread, totals[i]]).filter(([, total]) => total).sort(([, a], [, b]) => b - a);
    const label = choice('Thread', 'flame-thread', [['', 'all threads'],
        ...sorted.map(([thread, total]) => [keyOf(thread), threadTitle(thread) + (recording ? `: ${valueText(total)}` : '')])],
        (thread) => go({thread}));
    this.threadChoice = label.querySelector('select');
    return label;
  }

  // Takes over what the address says.
  take(address) {
    const thread = address.get('thread') ?? '', waiting = address.get('waiting') !== 'out', search = address.get('search') ?? '';
    const zoom = Number.parseInt(address.get('zoom') ?? '', 10);
    const old = this.state;
    this.state = {thread, waiting, search: search.toLowerCase(), zoom: alikes[zoom] === zoom ? zoom : -1};
    if (this.threadChoice) this.threadChoice.value = thread;
    this.waitingBox.checked = !waiting;
    fillSearch(this.searchBox, search);
    const same = this.chart && ['thread', 'waiting', 'zoom'].every((name) => old[name] === this.state[name]);
    if (!same || this.room() !== this.width) this.draw();
    else if (old.search !== this.state.search) this.search();
  }

  // What there is to draw: for each node its value, and how it is filled and described.
  measure() {
    const {thread, waiting} = this.state;
    const wanted = thread === '' ? -1 : this.threads.findIndex((each) => keyOf(each) === thread);
    this.unknown = thread !== '' && wanted < 0;
    this.totals = totalsOf((add) => this.each((of, leaf, standing, value) => {
      if ((waiting || !waits(standing)) && (thread === '' || of === wanted)) add(leaf, value);
    }));
  }
  valueOf(node) { return this.totals[node < 0 ? parents.length : node]; }
  node(node) {
    const frame = node < 0 ? -1 : nodes.frame[node];
    return {name: frame < 0 ? this.rootName() : `${letterOf(frame)} ${labels[frame]}`, value: this.valueOf(node), frame, node};
  }
  rootName() { return this.state.thread === '' ? 'all threads' : `thread ${this.state.thread}`; }
  fill(data) { return data.frame < 0 ? FILLS.root : FILLS[frames.kind[data.frame]]; }
  shade(data) { return this.hits?.[data.frame] ? FILLS.found : this.fill(data); }
  describe(data) { return `${data.name} — ${valueText(data.value)}, ${percent(data.value, this.total)}`; }
  summary() { return `${valueText(this.total)} in ${this.state.thread === '' ? plural(this.threads.length, 'thread') : 'one thread'}`; }

  // The chart's nodes: of all, or of the zoomed node and its callers. Nodes that are too narrow to be seen, or too deep
  // for a browser, are left out.
  data() {
    const MOST_FRAMES = 2000;
    const root = this.node(-1);
    const path = [];
    for (let at = this.state.zoom; at >= 0; at = alikeParent(at)) path.unshift(at);
    let top = root;
    for (const at of path) {
      top.children = [this.node(at)];
      [top] = top.children;
    }
    const least = top.value / this.width;  // a pixel
    const open = [top];
    while (open.length) {
      const from = open.pop();
      from.children = [];
      for (let at = firstCallee[from.node + 1]; at >= 0; at = nextCallee[at]) {
        const value = this.valueOf(at);
        if (value && value >= least && depths[at] <= MOST_FRAMES) from.children.push(this.node(at));
      }
      from.children.sort((a, b) => b.value - a.value);
      open.push(...from.children);
    }
    return root;
  }

  draw() {
    this.width = this.room();  // while the old chart is there: without one, there may be no scroll bar
    this.chart?.destroy();
    this.host.replaceChildren();
    this.measure();
    this.total = this.valueOf(-1);
    const {zoom} = this.state;
    const unseen = zoom >= 0 && !this.valueOf(zoom);
    if (unseen) this.state.zoom = -1;
    const data = this.data();
    this.current = null;
    if (!this.total) {
      this.chart = null;
      this.found.textContent = '';
      this.details.textContent = '';
      this.host.append(el('p', {class: 'empty'}, this.unknown ? `There is no thread ${readable(this.state.thread)} here.` : 'No samples.'));
      return;
    }
    this.chart = flamegraph.default().width(this.width).cellHeight(20).minFrameSize(1).inverted(true)
        .transitionDuration(0).setLabelHandler((d) => this.describe(d.data))
        .setColorMapper(({data}) => this.shade(data))
        .setDetailsHandler((text) => { if (text) this.details.textContent = text; });
    this.hits = null;
    d3.select(this.host).datum(data).call(this.chart);
    this.root = d3.select(this.host).datum();
    this.host.querySelector('svg').setAttribute('aria-hidden', 'true');
    const zoomed = this.state.zoom < 0 ? null : this.root.descendants().find((d) => d.data.node === this.state.zoom);
    if (zoomed) this.chart.zoomTo(zoomed);
    this.chart.onClick((d) => this.zoom(d));
    this.details.textContent = unseen ? 'The frame of the address is on none of these stacks: everything is shown.'
        : 'Point at a frame, or use the arrow keys.';
    this.search();
    this.point(zoomed);
  }

  zoom(d) { go({zoom: d.data.node < 0 ? '' : String(d.data.node)}); }

  // The width inside the frame's padding.
  room() {
    return Math.max(this.host.clientWidth - 12, 100);
  }

  resize() {
    if (this.chart && this.host.clientWidth && this.room() !== this.width) this.draw();
  }

  // Marks the frames with the text, and says how much is below them.
  search() {
    const {search} = this.state;
    if (!this.chart) return;
    this.hits = search ? framesNamed(search) : null;
    d3.select(this.host).selectAll('g.frame').select('rect').attr('fill', ({data}) => this.shade(data));
    this.found.textContent = search ? this.foundText() : this.summary();
    this.point(this.current);
  }

  foundText() {
    const below = new Uint8Array(parents.length);
    let count = 0;
    let sum = 0;
    for (let i = 0; i < parents.length; ++i) {
      if (alikes[i] !== i || !this.valueOf(i)) continue;
      const parent = alikeParent(i);
      const inside = parent >= 0 && below[parent];
      const hit = this.hits[nodes.frame[i]];
      count += hit;
      if (hit && !inside) sum += this.valueOf(i);
      below[i] = hit || inside;
    }
    return `${plural(count, 'frame')} found, ${percent(sum, this.total)} of all`;
  }

  // Shows which frame the keyboard has selected.
  point(d) {
    this.current = d;
    d3.select(this.host).selectAll('g').classed('current', (each) => each === d);
    if (d) this.details.textContent = this.describe(d.data);
  }

  key(event) {
    if (!this.chart || event.altKey || event.ctrlKey || event.metaKey) return;
    const at = this.current ?? this.root;
    const beside = (step) => {
      const all = (at.parent?.children ?? [at]).filter((each) => !each.data.hide);
      return all[all.indexOf(at) + step] ?? at;
    };
    const shown = (list) => list?.find((each) => !each.data.hide && each.value > 0);
    const to = {ArrowDown: () => shown(at.children) ?? at, ArrowUp: () => at.parent ?? at,
                ArrowLeft: () => beside(-1), ArrowRight: () => beside(1)}[event.key];
    if (to) this.point(to());
    else if (event.key === 'Enter') this.zoom(at);
    else if (event.key === 'Escape') go({zoom: ''});
    else return;
    event.preventDefault();
  }
}

const EVENT_NOUNS = {exception: 'exception', allocation: 'allocation', 'class-load': 'type load', 'module-load': 'module load'};

// A sum of samples as a time, or as a number of events.
function valueText(value) {
  if (!recording) return plural(value, 'thread');
  if (recording.unit === 'nanoseconds') return duration(value);
  return plural(value, EVENT_NOUNS[recording.event] ?? 'sample');
}
