// A thread in two dumps, side by side. The frames that changed are marked.

// How many frames from the root on two stacks have in common, compared by their names.
function commonFrames(a, b) {
  const name = (frame) => `${frames.kind[frame]}${frames.label[frame]}`;
  let common = 0;
  while (common < a.length && common < b.length && name(a[a.length - 1 - common]) === name(b[b.length - 1 - common])) ++common;
  return common;
}

// An entry's stacks in the dumps that contain it. `shown`: as in stackView, with left and right (indices into seen).
function comparedView(entry, shown, choose) {
  const last = entry.seen.length - 1;
  const right = Math.min(shown.right ?? last, last);
  const left = Math.min(shown.left ?? Math.max(0, last - 1), last);
  const [a, b] = [entry.seen[left], entry.seen[right]];
  const [before, after] = [stackOf(a.thread.leaf), stackOf(b.thread.leaf)];
  const common = commonFrames(before, after);
  const same = common === before.length && common === after.length;
  const column = (at, side, stack) => {
    const seen = entry.seen[at];
    const select = el('select', {'aria-label': `Dump ${side}`, onchange: (event) => choose(side, Number(event.target.value))},
        ...entry.seen.map(({dump: each}, i) => el('option', {value: String(i), selected: i === at}, `${dumpTitle(each)}, ${dumpTime(each)}`)));
    return el('section', {class: 'column', 'aria-label': `Stack ${side}`}, select,
        seen.words ? el('p', {class: 'words'}, seen.words) : null,
        lockLines(seen.thread),
        seen.thread.leaf < 0 ? threadBody(seen.thread, shown)
                             : stackView(seen.thread, {...shown, changed: same ? 0 : stack.length - common}),
        seen.thread.async ? asyncList(seen.thread.async) : null);
  };
  const says = same ? 'The same functions in both dumps.'
      : `${plural(common, 'frame')} from the root in common; the frames above changed.`;
  return [el('p', {class: 'hint'}, says), el('div', {class: 'columns'}, column(left, 'left', before), column(right, 'right', after))];
}
