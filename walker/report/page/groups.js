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
  const alone = sorted.filter((threads) => threads.length === 1);
  return el('div', {class: 'page groups'},
      el('p', {class: 'hint'}, several.length ? 'Threads that stand in the same functions, called from the same functions.'
                                              : 'No two threads stand in the same functions.'),
      several.map((threads) => groupCard(threads)),
      alone.length ? el('h2', {}, plural(alone.length, 'thread'), ` with a stack of ${alone.length === 1 ? 'its' : 'their'} own`) : null,
      alone.map((threads) => groupCard(threads)));
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

function groupCard(threads) {
  const [first] = threads;
  const main = mainFrame(first);
  // The stack is made when the card is first opened.
  const body = el('div', {class: 'group-stack'});
  const card = el('details', {},
      el('summary', {}, el('span', {class: 'count-badge'}, `×${threads.length}`),
          ...(main === undefined ? [readable(first.skipped ?? 'no frames')]
              : [badge(kindOf(main).style, letterOf(main)), el('span', {class: 'ellipsis'}, partsOf(main).slice(0, 2).join(''))])),
      body);
  card.addEventListener('toggle', () => {
    if (card.open && !body.firstChild) body.append(threadBody(first, {}));
  });
  return el('div', {class: 'group'}, card, threadLinks(threads));
}
