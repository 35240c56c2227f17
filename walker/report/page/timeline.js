// What each thread did over time: one strip per thread over the time of the recording.

// Eight colours that also differ in lightness, for managed frames by name.
const NAME_FILLS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c6bb1', '#b5a300'];

function nameFill(label) {
  let hash = 0;
  for (let i = 0; i < label.length; ++i) hash = (hash * 31 + label.charCodeAt(i)) >>> 0;
  return NAME_FILLS[hash % NAME_FILLS.length];
}

// The number of buckets in which the thread did not wait.
function busy({runs}) {
  let buckets = 0;
  for (let i = 0; i < runs.length; i += 4) if (!waits(runs[i + 3])) buckets += runs[i + 1];
  return buckets;
}

const CHOOSE = 'Choose a place on a strip to see the stack there.';

class TimelineView {
  constructor() {
    this.state = {colour: 'kind', search: '', thread: ''};
    this.fills = {};
    this.element = this.build();
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
  }

  build() {
    this.strips = recording.threads.map((thread, i) => ({thread, runs: recording.strips[i]}))
        .filter(({runs}) => runs.length).map((strip) => this.strip(strip))
        .sort((a, b) => busy(b) - busy(a) || a.thread.id - b.thread.id);
    this.detail = el('section', {class: 'detail', 'aria-label': 'Stack at a time'},
        el('p', {class: 'empty'}, CHOOSE));
    this.count = el('p', {class: 'count', role: 'status'});
    this.searchBox = searchBox('Search frames', 'search', (search) => go({search}, true));
    this.axis = el('div', {class: 'axis', 'aria-hidden': 'true'}, ...[0, 0.25, 0.5, 0.75, 1].map((part) =>
        el('span', {}, duration(recording.duration_ns * part))));
    return el('div', {class: 'page'},
        el('div', {class: 'bar'}, this.searchBox, choice('Colour by', 'strip-colour', [['kind', 'kind of the top frame'], ['name', 'top managed frame']],
                   (value) => { this.state.colour = value; this.draw(); })),
        this.count,
        el('p', {class: 'hint small'}, 'A strip is a thread. High: managed code; two thirds: native code; a thin line: the ' +
            'thread waits, or is idle; nothing: no sample.'),
        el('div', {class: 'strips'}, el('div', {class: 'strip-row'}, el('span', {}), this.axis),
            this.strips.map(({row}) => row)),
        this.detail);
  }

  strip({thread, runs}) {
    const canvas = el('canvas', {class: 'strip', tabindex: '0', role: 'slider', 'aria-label': threadTitle(thread),
                                 'aria-valuemin': '0', 'aria-valuemax': String(recording.buckets - 1), 'aria-valuenow': '0'});
    const strip = {thread, runs, canvas, at: -1};
    strip.row = el('div', {class: 'strip-row'}, el('a', {class: 'strip-name', href: `#view=flame&thread=${thread.key}`,
                                                          title: 'Flame graph of this thread'},
        el('span', {class: 'id'}, hex(thread.id)), ` ${threadName(thread)} `, roleTag(thread)), canvas);
    const place = (event) => Math.floor((event.offsetX / canvas.clientWidth) * recording.buckets);
    canvas.addEventListener('mousemove', (event) => { canvas.title = this.says(strip, place(event)); });
    canvas.addEventListener('click', (event) => this.choose(strip, place(event)));
    canvas.addEventListener('keydown', (event) => {
      const step = {ArrowLeft: -1, ArrowRight: 1, PageDown: -50, PageUp: 50}[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.choose(strip, strip.at + step);
    });
    return strip;
  }

  // The leaf at a bucket; -1 if there is no sample.
  leafAt({runs}, bucket) {
    for (let i = 0; i < runs.length; i += 4) {
      if (bucket >= runs[i] && bucket < runs[i] + runs[i + 1]) return runs[i + 2];
    }
    return -1;
  }

  says(strip, bucket) {
    const time = duration(recording.duration_ns * (bucket + 0.5) / recording.buckets);
    const leaf = this.leafAt(strip, bucket);
    if (leaf < 0) return `${time}: no sample`;
    const frame = mainFrame({leaf});
    return `${time}: ${letterOf(frame)} ${labels[frame]}`;
  }

  choose(strip, bucket) {
    strip.at = Math.max(0, Math.min(bucket, recording.buckets - 1));
    const says = this.says(strip, strip.at);
    strip.canvas.setAttribute('aria-valuenow', String(strip.at));
    strip.canvas.setAttribute('aria-valuetext', says);
    for (const each of this.strips) if (each !== strip) each.at = -1;
    const leaf = this.leafAt(strip, strip.at);
    const time = duration(recording.duration_ns * (strip.at + 0.5) / recording.buckets);
    this.detail.replaceChildren(el('div', {class: 'detail-head'}, el('h2', {}, `${threadTitle(strip.thread)} at ${time}`)),
        leaf < 0 ? el('p', {class: 'empty'}, 'No sample of this thread was taken here.')
                 : stackView({leaf}, {search: this.state.search}));
    this.draw();
  }

  take(address) {
    const search = address.get('search') ?? '';
    this.state.search = search.toLowerCase();
    fillSearch(this.searchBox, search);
    const thread = address.get('thread') ?? '';
    const changed = thread !== this.state.thread;
    this.state.thread = thread;
    this.draw();
    if (changed && thread) this.show(thread);
  }

  // Leads to the strip of the thread that the address names.
  show(key) {
    const strip = this.strips.find(({thread}) => thread.key === key);
    strip?.row.scrollIntoView({block: 'nearest'});
    const says = strip ? CHOOSE : `There is no thread ${readable(key)} here.`;
    this.detail.replaceChildren(el('p', {class: 'empty'}, says));
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    for (const kind of ['managed', 'native', 'stub', 'gap', 'word']) this.fills[kind] = style.getPropertyValue(`--${kind}`);
    const found = this.state.search && nodesWith(framesWith(this.state.search));
    const cursor = style.getPropertyValue('--text');
    let hits = 0;
    const scale = window.devicePixelRatio || 1;
    for (const {canvas, runs, at} of this.strips) {
      const width = Math.round(canvas.clientWidth * scale);
      const height = Math.round(canvas.clientHeight * scale);
      if (!width) continue;
      canvas.width = width;
      canvas.height = height;
      const context = canvas.getContext('2d');
      const x = (bucket) => Math.floor(bucket * width / recording.buckets);
      let hit = false;
      for (let i = 0; i < runs.length; i += 4) {
        const [first, count, leaf, standing] = [runs[i], runs[i + 1], runs[i + 2], runs[i + 3]];
        const fits = !found || found[leaf];
        hit ||= Boolean(found && fits);
        context.globalAlpha = fits ? 1 : 0.15;
        context.fillStyle = this.fill(leaf);
        // Kinds of frames differ in height as well as in colour, and a wait is a thin line.
        const kind = frames.kind[nodes.frame[leaf]];
        const full = waits(standing) ? 0.15 : this.state.colour === 'name' ? 1 : {M: 1, S: 0.8, N: 0.6}[kind] ?? 0.3;
        const high = Math.round(height * full);
        context.fillRect(x(first), height - high, Math.max(1, x(first + count) - x(first)), high);
      }
      hits += hit;
      context.globalAlpha = 1;
      if (at >= 0) {
        context.fillStyle = cursor;
        context.fillRect(x(at), 0, Math.max(2, scale), height);
      }
    }
    this.count.textContent = found ? `${plural(hits, 'thread')} of ${this.strips.length} with it`
        : plural(this.strips.length, 'thread');
  }

  fill(leaf) {
    if (this.state.colour === 'kind') return this.fills[kindOf(nodes.frame[leaf]).style];
    const frame = mainFrame({leaf});
    return frames.kind[frame] === 'M' ? nameFill(labels[frame]) : this.fills.word;
  }
}
