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

// For each side the sums of totalsOf(). `waiting`: includes threads that wait.
const comparedTotals = (waiting) => compared.map((side) => totalsOf((add) => eachSum(side, (thread, leaf, standing, value) => {
  if (waiting || !waits(standing)) add(leaf, value);
})));

const swatch = (fill) => {
  const sign = el('span', {class: 'swatch', 'aria-hidden': 'true'});
  sign.style.background = fill;
  return sign;
};

class DifferenceView extends FlameView {
  widthBy = 'both';

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
        (value) => { this.widthBy = value; this.draw(); });
  }

  measure() { this.sums = comparedTotals(this.state.waiting); }
  sidesOf(node) {
    const all = parents.length;
    return this.sums.map((totals) => totals[node < 0 ? all : node] / (totals[all] || 1));
  }
  valueOf(node) {
    const [before, after] = this.sidesOf(node);
    return {both: (before + after) / 2, before, after}[this.widthBy];
  }
  node(at) {
    const node = super.node(at);
    const sides = this.sidesOf(at);
    if (at >= 0) node.name = `${signOf(pointsOf(sides))} ${node.name}`.trim();
    return {...node, sides};
  }

  fill({frame, sides}) { return frame < 0 ? FILLS.root : changeFill(pointsOf(sides)); }
  describe({name, sides}) { return `${name} — ${shareText(sides[0])} → ${shareText(sides[1])}, ${pointsText(pointsOf(sides))} points`; }
  summary() { return 'Shares of all samples of their recording, before and after'; }
}

// Every frame of both recordings with its shares: {frame, self: [before, after], total: [before, after]}.
function comparedFrames(waiting) {
  const rows = new Map();
  comparedTotals(waiting).forEach((totals, side) => {
    const all = totals[parents.length] || 1;
    for (let node = 0; node < parents.length; ++node) {
      if (alikes[node] !== node || !totals[node]) continue;
      const frame = nodes.frame[node];
      const key = functionOf[frame];
      if (!rows.has(key)) rows.set(key, {frame, self: [0, 0], total: [0, 0]});
      const row = rows.get(key);
      let self = totals[node];
      for (let callee = firstCallee[node + 1]; callee >= 0; callee = nextCallee[callee]) self -= totals[callee];
      row.self[side] += self / all;
      let caller = alikeParent(node);
      while (caller >= 0 && functionOf[nodes.frame[caller]] !== key) caller = alikeParent(caller);
      if (caller < 0) row.total[side] += totals[node] / all;  // a function that calls itself counts once
    }
  });
  return [...rows.values()];
}

// The list of frames, with those that changed most first.
class ChangesView {
  constructor() {
    this.state = {search: '', order: 'total', show: 'all', waiting: true, most: 100};
    this.frames = comparedFrames(true);
    this.element = this.build();
  }

  build() {
    const set = (name) => (value) => {
      this.state[name] = value;
      this.state.most = 100;
      this.draw();
    };
    this.waitingBox = el('input', {type: 'checkbox', id: 'changes-waiting', onchange: () => go({waiting: this.waitingBox.checked ? 'out' : ''})});
    this.searchBox = searchBox('Search frames', 'search', (search) => go({search}, true));
    this.count = el('p', {class: 'count', role: 'status'});
    this.rows = el('tbody');
    this.more = el('button', {type: 'button', class: 'quiet', onclick: () => {
      this.state.most = Infinity;
      this.draw();
    }});
    const head = (text, title) => el('th', {scope: 'col', class: 'num', title}, text);
    return el('div', {class: 'page changes'},
        el('div', {class: 'bar'}, this.searchBox,
            choice('Show', 'changes-show', [['all', 'all frames'], ['more', '▲ those that grew'], ['less', '▼ those that shrank']], set('show')),
            choice('Sort by', 'changes-order', [['total', 'change with what it calls'], ['self', 'its own change']], set('order')),
            el('label', {class: 'check'}, this.waitingBox, ' Leave out threads that wait')),
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

  take(address) {
    const search = address.get('search') ?? '', waiting = address.get('waiting') !== 'out';
    if (waiting !== this.state.waiting) this.frames = comparedFrames(waiting);
    if (search.toLowerCase() !== this.state.search) this.state.most = 100;
    Object.assign(this.state, {search: search.toLowerCase(), waiting});
    this.waitingBox.checked = !waiting;
    fillSearch(this.searchBox, search);
    this.draw();
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
            el('button', {type: 'button', class: 'link', title: 'Find it in the flame graph', onclick: () => go({view: 'flame', search: labels[frame]})},
                ...marked(labels[frame], this.state.search)))),
        ...cells);
  }
}
