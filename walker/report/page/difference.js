// The differences between two recordings of one program. They are shown as shares of the total, since recordings differ
// in length.

const SIDES = ['Before', 'After'];
// The colours from so many percentage points of the total on. Blue and orange also differ for colour-blind people, and
// a larger difference has a darker colour.
const STEPS = [{points: 10, more: '#f1701c', less: '#4a97cb'}, {points: 3, more: '#f9953f', less: '#78b4da'},
               {points: 1, more: '#fdb574', less: '#a3cce5'}, {points: 0.2, more: '#fdd9b4', less: '#cde0f1'}];
const SAME_FILL = '#dfe3e8';

const stepOf = (points) => STEPS.find((step) => Math.abs(points) >= step.points);
const signOf = (points) => (!stepOf(points) ? '' : points > 0 ? '▲' : '▼');
function changeFill(points) {
  const step = stepOf(points);
  return !step ? SAME_FILL : points > 0 ? step.more : step.less;
}
const pointsText = (points) => `${points > 0 ? '+' : points < 0 ? '−' : '±'}${Math.abs(points).toFixed(1)}`;
const shareText = (share) => `${(100 * share).toFixed(1)} %`;
const pointsOf = ([before, after]) => 100 * (after - before);

// [leaf, share of the total of its side, no thread, side] for both recordings. `waiting`: includes threads that wait in
// the system.
function comparedSamples(waiting) {
  return compared.flatMap(({sums}, side) => {
    const samples = [];
    let total = 0;
    for (let i = 0; i < sums.length; i += 4) {
      if (!waiting && standsInWait(sums[i + 1])) continue;
      samples.push([sums[i + 1], sums[i + 3], undefined, side]);
      total += sums[i + 3];
    }
    for (const sample of samples) sample[1] /= total || 1;
    return samples;
  });
}

const swatch = (fill) => {
  const sign = el('span', {class: 'swatch', 'aria-hidden': 'true'});
  sign.style.background = fill;
  return sign;
};

class DifferenceView extends FlameView {
  constructor() {
    super();
    this.state.width = 'both';
  }

  build() {
    const page = super.build();
    const smallest = STEPS[STEPS.length - 1].points;
    const scale = [...STEPS.map(({points, less}) => [less, `▼ ${points} points or more`]), [SAME_FILL, `less than ${smallest}`],
                   ...[...STEPS].reverse().map(({points, more}) => [more, `▲ ${points} points or more`])];
    this.host.before(el('ul', {class: 'scale', 'aria-label': 'Colours: how much a share of the whole changed'},
        scale.map(([fill, says]) => el('li', {}, swatch(fill), says))));
    return page;
  }

  choices() {
    return choice('Width', 'difference-width', [['both', 'mean of both shares'], ['after', 'share after'], ['before', 'share before']],
        (value) => { this.state.width = value; this.draw(); });
  }

  tree() { return [mergedTree(comparedSamples(this.state.waiting)), 'all threads']; }

  node({frame, sides}, name) {
    const [before, after] = sides;
    const points = pointsOf(sides);
    const value = {both: (before + after) / 2, before, after}[this.state.width];
    return {name: frame < 0 ? name : `${signOf(points)} ${name}`.trim(), value, frame, sides, delta: after - before};
  }

  fill({frame, sides}) { return frame < 0 ? FILLS.root : changeFill(pointsOf(sides)); }
  describe({name, sides}) { return `${name} — ${shareText(sides[0])} → ${shareText(sides[1])}, ${pointsText(pointsOf(sides))} points`; }
  summary() { return 'Shares of all samples of their recording, before and after'; }

  // Shows the frame to which another view leads.
  find(text) {
    this.searchBox.value = text;
    this.search(text.toLowerCase());
  }
}

// Every frame of both recordings with its shares: {frame, self: [before, after], total: [before, after]}.
function comparedFrames(waiting) {
  const rows = new Map();
  for (const [leaf, share, , side] of comparedSamples(waiting)) {
    const seen = new Set();
    for (const frame of stackOf(leaf)) {
      const key = `${frames.kind[frame]}${labels[frame]}`;
      let row = rows.get(key);
      if (!row) {
        row = {frame, self: [0, 0], total: [0, 0]};
        rows.set(key, row);
      }
      if (!seen.size) row.self[side] += share;
      if (!seen.has(key)) row.total[side] += share;
      seen.add(key);
    }
  }
  return [...rows.values()];
}

// The list of frames, with those that changed most first.
class ChangesView {
  constructor() {
    this.state = {search: '', order: 'total', show: 'all', waiting: true, most: 100};
    this.frames = comparedFrames(true);
    this.element = this.build();
    this.draw();
  }

  build() {
    const set = (name) => (value) => {
      this.state[name] = name === 'search' ? value.toLowerCase() : value;
      this.state.most = 100;
      this.draw();
    };
    const waiting = el('input', {type: 'checkbox', id: 'changes-waiting', onchange: () => {
      this.state.waiting = !waiting.checked;
      this.frames = comparedFrames(this.state.waiting);
      this.draw();
    }});
    this.count = el('p', {class: 'count', role: 'status'});
    this.rows = el('tbody');
    this.more = el('button', {type: 'button', class: 'quiet', onclick: () => {
      this.state.most = Infinity;
      this.draw();
    }});
    const head = (text, title) => el('th', {scope: 'col', class: 'num', title}, text);
    return el('div', {class: 'page changes'},
        el('div', {class: 'bar'}, searchBox('Search frames', 'search', set('search')),
            choice('Show', 'changes-show', [['all', 'all frames'], ['more', '▲ those that grew'], ['less', '▼ those that shrank']], set('show')),
            choice('Sort by', 'changes-order', [['total', 'change with what it calls'], ['self', 'its own change']], set('order')),
            el('label', {class: 'check'}, waiting, ' Leave out threads that wait in the system')),
        this.count,
        el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of frames'}, el('table', {},
            el('caption', {class: 'spoken'}, 'Frames with their shares of all samples, before and after'),
            el('thead', {},
                el('tr', {}, el('td', {}), el('th', {scope: 'colgroup', colspan: '3'}, 'With what it calls'),
                    el('th', {scope: 'colgroup', colspan: '3'}, 'Itself')),
                el('tr', {}, el('th', {scope: 'col'}, 'Frame'), ...['total', 'self'].flatMap(() => [
                  head('Change', 'in points of the whole'), head(SIDES[0]), head(SIDES[1])]))),
            this.rows)),
        this.more);
  }

  draw() {
    const {search, order, show, most} = this.state;
    const change = (row) => pointsOf(row[order]);
    const fits = (row) => (!search || labels[row.frame].toLowerCase().includes(search)) &&
        (show === 'all' || (show === 'more' ? change(row) > 0 : change(row) < 0));
    const rows = this.frames.filter(fits).sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)) ||
        labels[a.frame].localeCompare(labels[b.frame]));
    this.count.textContent = plural(rows.length, 'frame');
    this.rows.replaceChildren(allOf(rows.slice(0, most).map((row) => this.row(row))));
    this.more.hidden = rows.length <= most;
    this.more.textContent = `${plural(rows.length - most, 'more frame')}`;
  }

  row({frame, self, total}) {
    const cells = [total, self].flatMap((shares) => [
      el('td', {class: 'num change'}, swatch(changeFill(pointsOf(shares))), `${signOf(pointsOf(shares))} ${pointsText(pointsOf(shares))}`),
      el('td', {class: 'num'}, shareText(shares[0])), el('td', {class: 'num'}, shareText(shares[1]))]);
    return el('tr', {},
        el('th', {scope: 'row', class: 'mono'}, el('span', {class: 'line'}, badge(kindOf(frame).style, letterOf(frame)), spoken(`${kindOf(frame).name}: `),
            el('button', {type: 'button', class: 'link', title: 'Find it in the flame graph', onclick: () => this.find(frame)},
                ...marked(labels[frame], this.state.search)))),
        ...cells);
  }

  find(frame) {
    addEventListener('hashchange', () => made.get('flame').find(labels[frame]), {once: true});
    location.hash = 'view=flame';
  }
}
