// One stack as a list of frames. The runtime's own frames are folded as in text.

// `thread`: the thread whose folds and marks are used. `shown`: {search, module, open: all folds are open, changed:
// this many frames from the leaf differ from those of another dump}.
function stackView(thread, shown = {}) {
  const stack = stackOf(thread.leaf);
  const list = el('ol', {class: 'stack'});
  const marks = new Map(thread.marks ?? []);
  const folds = new Map((thread.folds ?? []).map(([first, count, role]) => [first, {count, role}]));
  for (let i = 0; i < stack.length;) {
    const fold = folds.get(i);
    if (!fold) {
      list.append(frameRow(stack[i], i, marks.get(i), {...shown, changed: i < (shown.changed ?? 0)}));
      ++i;
      continue;
    }
    const rows = [];
    for (let j = i; j < i + fold.count && j < stack.length; ++j) {
      rows.push(frameRow(stack[j], j, marks.get(j), {...shown, changed: j < (shown.changed ?? 0)}));
    }
    const real = stack.slice(i, i + fold.count).filter((frame) => !(frames.flags[frame] & FLAG.inlined)).length;
    list.append(foldRow(i, `${fold.role}, ${plural(real, 'frame')}`, rows, shown));
    i += fold.count;
  }
  return list;
}

function frameRow(frame, index, mark, {search = '', module = '', changed = false}) {
  const kind = kindOf(frame);
  const [before, name, behind] = partsOf(frame);
  const guessed = isGuessed(frame);
  const how = frames.flags[frame] & FLAG.scanned ? 'scan' : 'frame-pointer';
  const place = placeOf(frame);
  const other = module !== '' && moduleNames[frame] !== module;
  const title = [frames.address[frame] ? `at 0x${frames.address[frame]}` : '', readable(strings[frames.file[frame]])]
      .filter(Boolean).join('\n');
  return el('li', {class: `frame ${kind.style}${guessed ? ' guessed' : ''}${other ? ' other' : ''}${changed ? ' changed' : ''}`},
      el('span', {class: 'index', 'aria-hidden': 'true'}, frames.kind[frame] === 'G' ? '' : `#${index}`),
      badge(guessed ? `${kind.style} guess` : kind.style, letterOf(frame)),
      spoken(`${changed ? 'changed, ' : ''}${guessed ? 'guessed ' : ''}${kind.name}: `),
      el('span', {class: 'label', title: title || null},
          frames.flags[frame] & FLAG.inlined ? el('span', {class: 'tag'}, 'inlined') : null,
          before && el('span', {class: 'before'}, ...marked(before, search)),
          el('span', {class: 'name'}, ...marked(name, search)),
          behind && el('span', {class: 'behind'}, ...marked(behind, search)),
          frames.offset[frame] ? el('span', {class: 'behind'}, `+${hex(frames.offset[frame])}`) : null,
          guessed ? el('span', {class: 'tag warn'}, `guessed: ${how}`) : null,
          mark ? el('span', {class: 'tag warn'}, mark) : null),
      place ? placeIn(frame, place, search) : null);
}

function placeIn(frame, place, search) {
  const href = sourceUrl(frame);
  return el('span', {class: 'place'}, ...(href
      ? [el('a', {href, target: '_blank', rel: 'noopener noreferrer'}, ...marked(place, search))]
      : marked(place, search)));
}

function foldRow(index, text, rows, {search = '', open = false}) {
  const inner = el('ol', {class: 'folded-frames'}, ...rows);
  const button = el('button', {type: 'button', class: 'fold', 'aria-expanded': 'false'},
      el('span', {class: 'index', 'aria-hidden': 'true'}, `#${index}`), badge('native', 'N'),
      el('span', {class: 'label'}, `${text}`), el('span', {class: 'chevron', 'aria-hidden': 'true'}));
  const set = (isOpen) => {
    button.setAttribute('aria-expanded', String(isOpen));
    inner.hidden = !isOpen;
  };
  button.addEventListener('click', () => set(inner.hidden));
  // If a search finds something in a fold, the fold is opened.
  set(open || (search !== '' && rows.some((row) => row.querySelector('mark'))));
  return el('li', {class: 'fold-row'}, button, inner);
}

// What the thread waits for, or who waits for the task that it runs: lines below its frames, which are no frames.
const asyncList = (lines) => el('ol', {class: 'stack tasks'}, ...lines.map(([depth, cut, text]) =>
  el('li', {class: `frame async${cut ? ' cut' : ''}`},
     el('span', {class: 'index', 'aria-hidden': 'true'}), cut ? el('span') : badge('async', 'A'),
     spoken(cut ? '' : 'task: '), el('span', {class: 'label'}, '\u2003'.repeat(depth) + (cut ? `… ${text}` : text)))));

// The stack as text, for the clipboard and for paper.
function stackLines(thread) {
  const marks = new Map(thread.marks ?? []);
  return stackOf(thread.leaf).map((frame, i) => {
    const place = placeOf(frame);
    return `  #${String(i).padEnd(3)} ${letterOf(frame)}  ${labelWithOffset(frame)}${place ? `  (${place})` : ''}${marks.has(i) ? `  (${marks.get(i)})` : ''}\n`;
  }).join('') + (thread.async ?? []).map(([depth, cut, text]) =>
    `       ${'  '.repeat(depth)}${cut ? '… ' : 'A  '}${text}\n`).join('');
}
const stackText = (thread) => `${threadTitle(thread)}\n${stackLines(thread)}`;

// "whole: 21 frames, 5 managed, 13 native, 3 stubs".
function countsText(thread) {
  const counts = {M: 0, N: 0, S: 0};
  let inlined = 0;
  let guessed = 0;
  for (const frame of stackOf(thread.leaf)) {
    if (frames.flags[frame] & FLAG.inlined) {
      ++inlined;
    } else {
      if (frames.kind[frame] in counts) ++counts[frames.kind[frame]];
      guessed += isGuessed(frame);
    }
  }
  const all = counts.M + counts.N + counts.S;
  return [plural(all, 'frame'), `${counts.M} managed`, `${counts.N} native`, counts.S && plural(counts.S, 'stub'),
          inlined && `${inlined} inlined`, guessed && `${guessed} guessed`].filter(Boolean).join(', ');
}
