// Flame graphs, drawn by d3-flame-graph, of a recording's samples or of a dump's threads. The root is on top.

// The fills are light in both themes, so that the labels on them stay dark and readable.
const FILLS = {M: '#8ec3f0', N: '#f3cd78', S: '#e0a9d2', G: '#d0d0d0', W: '#d9e2d0', root: '#c8ced6', found: '#9be564'};
const WAITS = /!(Nt|Zw)(WaitFor|Delay|SignalAndWait|RemoveIoCompletion|RemoveIoCompletionEx|WaitLowEvent)/;

const standsInWait = (leaf) => WAITS.test(labels[nodes.frame[leaf]]);

class FlameView {
  constructor() {
    this.state = {thread: '', waiting: true, search: ''};
    this.element = this.build();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.host);
  }

  // All samples as [thread index or id, leaf, weight].
  samples() {
    if (!recording) return dump.threads.filter(({leaf}) => leaf >= 0).map((thread) => [thread.id, thread.leaf, 1]);
    const samples = [];
    for (let i = 0; i < recording.sums.length; i += 4) {
      samples.push([recording.threads[recording.sums[i]].id, recording.sums[i + 1], recording.sums[i + 3]]);
    }
    return samples;
  }

  build() {
    this.host = el('div', {class: 'flame', tabindex: '0', role: 'group',
                           'aria-label': 'Flame graph. Arrow keys go from frame to frame, Enter zooms, Escape shows everything.'});
    this.host.addEventListener('keydown', (event) => this.key(event));
    this.details = el('p', {class: 'flame-details', role: 'status'}, 'Point at a frame, or use the arrow keys.');
    this.found = el('p', {class: 'count', role: 'status'});
    const waiting = el('input', {type: 'checkbox', id: 'flame-waiting', onchange: () => {
      this.state.waiting = !waiting.checked;
      this.draw();
    }});
    this.searchBox = searchBox('Search frames', 'search', (text) => this.search(text.toLowerCase()));
    return el('div', {class: 'page'},
        el('div', {class: 'bar'}, this.searchBox, this.choices(),
            el('label', {class: 'check'}, waiting, ' Leave out threads that wait in the system'),
            el('button', {type: 'button', class: 'quiet', onclick: () => this.reset()}, 'Show everything')),
        this.found, this.host, this.details);
  }

  // The further choices of this view.
  choices() {
    const totals = new Map();
    for (const [thread, , value] of this.samples()) totals.set(thread, (totals.get(thread) ?? 0) + value);
    const threads = (recording ?? dump).threads.filter(({id}) => totals.has(id))
        .sort((a, b) => totals.get(b.id) - totals.get(a.id));
    this.threadChoice = choice('Thread', 'flame-thread', [['', 'all threads'],
        ...threads.map((thread) => [String(thread.id), recording ? `${threadTitle(thread)}: ${valueText(totals.get(thread.id))}`
                                                                 : threadTitle(thread)])],
        (value) => { this.state.thread = value; this.draw(); });
    return this.threadChoice;
  }

  // The merged tree that is shown, and the name of its root.
  tree() {
    const {thread, waiting} = this.state;
    const samples = this.samples().filter(([id, leaf]) => (thread === '' || String(id) === thread) && (waiting || !standsInWait(leaf)));
    return [mergedTree(samples.map(([, leaf, value]) => [leaf, value])), thread === '' ? 'all threads' : `thread ${hex(Number(thread))}`];
  }

  // The chart's node for a node of that tree. A node without a value is not drawn.
  node(from, name) { return {name, value: from.count, frame: from.frame}; }

  // For a node of the chart.
  fill(data) { return data.frame < 0 ? FILLS.root : FILLS[frames.kind[data.frame]]; }
  describe(data) { return `${data.name} — ${valueText(data.value)}, ${percent(data.value, this.total)}`; }
  summary() { return `${valueText(this.total)} in ${thread_count(this.state.thread)}`; }

  data() {
    const [tree, name] = this.tree();
    const root = this.node(tree, name);
    const open = [[tree, root]];
    while (open.length) {
      const [from, to] = open.pop();
      to.children = [];
      for (const child of childrenOf(from)) {
        const node = this.node(child, `${letterOf(child.frame)} ${labels[child.frame]}`);
        if (!node.value) continue;
        open.push([child, node]);
        to.children.push(node);
      }
    }
    return root;
  }

  draw() {
    this.chart?.destroy();
    this.host.replaceChildren();
    const data = this.data();
    this.current = null;
    this.total = data.value;
    if (!data.value) {
      this.chart = null;
      this.host.append(el('p', {class: 'empty'}, 'No samples.'));
      return;
    }
    this.chart = flamegraph.default().width(this.room()).cellHeight(20).minFrameSize(1).inverted(true)
        .transitionDuration(0).setLabelHandler((d) => this.describe(d.data))
        .setColorMapper((d) => (d.highlight ? FILLS.found : this.fill(d.data)))
        .setSearchMatch((d, term) => d.data.name.toLowerCase().includes(term))
        .setSearchHandler((results, sum) => {
          this.found.textContent = `${plural(results.length, 'frame')} found, ${percent(sum, this.total)} of all`;
        })
        .setDetailsHandler((text) => { if (text) this.details.textContent = text; })
        .onClick((d) => this.point(d));
    d3.select(this.host).datum(data).call(this.chart);
    this.width = this.room();
    this.root = d3.select(this.host).datum();
    this.host.querySelector('svg').setAttribute('aria-hidden', 'true');
    if (this.state.search) this.search(this.state.search);
    else this.found.textContent = this.summary();
  }

  // The width inside the frame's padding.
  room() {
    return Math.max(this.host.clientWidth - 12, 100);
  }

  resize() {
    if (!this.chart || !this.host.clientWidth || this.room() === this.width) return;
    this.width = this.room();
    this.chart.width(this.width).update();
  }

  search(text) {
    this.state.search = text;
    if (!this.chart) return;
    if (text) {
      this.chart.search(text);
    } else {
      this.chart.clear();
      this.found.textContent = this.summary();
    }
    this.point(this.current);
  }

  reset() {
    this.chart?.resetZoom();
    this.point(null);
  }

  // Selects a thread by its key; null selects all threads.
  select(key) {
    if (!this.threadChoice) return;
    const id = Number.parseInt(key ?? '', 16);
    this.state.thread = Number.isNaN(id) ? '' : String(id);
    const select = this.threadChoice.querySelector('select');
    if (select.value !== this.state.thread) select.value = this.state.thread;
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
    else if (event.key === 'Enter') {
      this.chart.zoomTo(at);
      this.point(at);
    } else if (event.key === 'Escape') this.reset();
    else return;
    event.preventDefault();
  }
}

const thread_count = (thread) => (thread === '' ? plural((recording ?? dump).threads.length, 'thread') : 'one thread');

const EVENT_NOUNS = {exception: 'exception', allocation: 'allocation', 'class-load': 'type load', 'module-load': 'module load'};

// A sum of samples as a time, or as a number of events.
function valueText(value) {
  if (!recording) return plural(value, 'thread');
  if (recording.unit === 'nanoseconds') return duration(value);
  return plural(value, EVENT_NOUNS[recording.event] ?? 'sample');
}
