// Threads with equal stacks, shown as one.

function groupsView() {
  const groups = new Map();
  for (const thread of dump.threads) {
    const key = thread.leaf < 0 ? `skipped ${thread.skipped ?? ''}` : alikes[thread.leaf];
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(thread);
  }
  const sorted = [...groups.values()].sort((a, b) => b.length - a.length || a[0].id - b[0].id);
  const several = sorted.filter((threads) => threads.length > 1);
  const titles = titlesOf(sorted.map(([first]) => first));
  const alone = sorted.filter((threads) => threads.length === 1);
  return el('div', {class: 'page groups'},
      el('p', {class: 'hint'}, several.length ? 'Threads that stand in the same functions, called from the same functions.'
                                              : 'No two threads stand in the same functions.'),
      several.map((threads) => groupCard(threads, titles)),
      alone.length ? el('h2', {}, plural(alone.length, 'thread'), ` with a stack of ${alone.length === 1 ? 'its' : 'their'} own`) : null,
      alone.map((threads) => groupCard(threads, titles)));
}

// Links to threads: the first ones, and a button for the others.
function threadLinks(threads) {
  const SHOWN = 12;
  const links = threads.map((thread) => el('li', {}, el('a', {href: linkOf(thread), title: threadName(thread) || null},
      hex(thread.id), thread.name ? ` ${threadName(thread).slice(0, 40)}` : '')));
  const more = threads.length > SHOWN
      ? el('li', {}, el('button', {type: 'button', class: 'quiet', onclick: (event) => {
          event.currentTarget.parentElement.replaceWith(allOf(links.slice(SHOWN)));
        }}, `${threads.length - SHOWN} more`)) : null;
  return el('ul', {class: 'thread-links'}, ...links.slice(0, SHOWN), more);
}

const groupTitle = (frame) => partsOf(frame).slice(0, 2).join('');

// For each title how many groups have it, and how many of their stacks have each function.
function titlesOf(firsts) {
  const titles = new Map();
  for (const thread of firsts) {
    const stack = stackOf(thread.leaf);
    if (!stack.length) continue;
    const title = groupTitle(mainOf(stack));
    if (!titles.has(title)) titles.set(title, {groups: 0, stacks: new Map()});
    const all = titles.get(title);
    ++all.groups;
    for (const name of new Set(stack.map((frame) => functionOf[frame]))) all.stacks.set(name, (all.stacks.get(name) ?? 0) + 1);
  }
  return titles;
}

// What tells a group from the others of its title: the first frame, from the leaf on, that is on none of their stacks,
// or the number of frames.
function difference(thread, {stacks}) {
  const stack = stackOf(thread.leaf);
  const own = stack.find((frame) => stacks.get(functionOf[frame]) === 1);
  return own === undefined ? plural(stack.length, 'frame') : `with ${groupTitle(own)}`;
}

function groupCard(threads, titles) {
  const [first] = threads;
  const main = mainFrame(first);
  const alike = main === undefined ? null : titles.get(groupTitle(main));
  // The stack is made when the card is first opened.
  const body = el('div', {class: 'group-stack'});
  const card = el('details', {},
      el('summary', {}, el('span', {class: 'count-badge'}, `×${threads.length}`),
          ...(main === undefined ? [readable(first.skipped ?? 'no frames')]
              : [badge(kindOf(main).style, letterOf(main)), el('span', {class: 'ellipsis'}, groupTitle(main)),
                 alike.groups > 1 ? el('span', {class: 'dim ellipsis'}, difference(first, alike)) : null])),
      body);
  card.addEventListener('toggle', () => {
    if (card.open && !body.firstChild) body.append(threadBody(first, {}));
  });
  return el('div', {class: 'group'}, card, threadLinks(threads));
}
