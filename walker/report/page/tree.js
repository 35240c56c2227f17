// The parallel stacks of all threads, merged from the root. Frames are compared by their names.

// A tree of {frame, count, self, children, role, threads}, made from the threads of a dump. `role`: the name under which
// the runtime's own frames are folded. `threads`: the threads whose leaf is the node.
function mergedTree(threads) {
  const MOST_FRAMES = 2000;  // of one stack, from the root on, because a browser cannot draw more
  const root = {frame: -1, count: 0, self: 0, children: new Map(), threads: []};
  for (const thread of threads) {
    let at = root;
    ++root.count;
    const stack = stackOf(thread.leaf);
    const roles = [];
    for (const [first, count, role] of thread.folds ?? []) {
      for (let i = first; i < first + count; ++i) roles[i] = role;
    }
    for (let i = stack.length - 1; i >= Math.max(0, stack.length - MOST_FRAMES); --i) {
      const key = functionOf[stack[i]];
      let child = at.children.get(key);
      if (!child) {
        child = {frame: stack[i], count: 0, self: 0, children: new Map(), role: roles[i], threads: []};
        at.children.set(key, child);
      } else if (child.role !== roles[i]) {
        child.role = child.role && roles[i] ? 'the runtime' : undefined;  // its threads have different roles
      }
      ++child.count;
      at = child;
    }
    ++at.self;
    at.threads.push(thread);
  }
  return root;
}

const childrenOf = (tree) => [...tree.children.values()].sort((a, b) => b.count - a.count);

function treeView() {
  const root = mergedTree(dump.threads.filter(({leaf}) => leaf >= 0));
  return el('div', {class: 'page'},
      el('p', {class: 'hint'}, 'All stacks, merged from the root of the threads. The number says how many threads pass; ' +
          'a branch begins where their ways part.'),
      el('ul', {class: 'tree'}, childrenOf(root).map((child) => branch(child, root.count, 0))));
}

// A branch: the frames that all of its threads share, then the branches where they part.
function branch(tree, all, level) {
  const chain = [tree];
  let end = tree;
  while (end.children.size === 1 && end.self === 0) {
    [end] = end.children.values();
    chain.push(end);
  }
  const children = childrenOf(end);
  const main = mainOf(chain.map(({frame}) => frame).reverse());
  const body = el('div', {class: 'branch-body'});
  const fill = () => {
    if (body.firstChild) return;
    body.append(chainView(chain));
    if (end.self) {
      body.append(el('p', {class: 'self'}, `${end.self === 1 ? 'This thread stands' : 'These threads stand'} here:`),
                  threadLinks(end.threads));
    }
    if (children.length) body.append(el('ul', {class: 'tree'}, children.map((child) => branch(child, all, level + 1))));
  };
  const alone = end.self === 1 && !children.length ? end.threads[0] : null;
  const says = alone ? `${hex(alone.id)} ${threadName(alone)}` : plural(chain.length, 'frame');
  const details = el('details', {class: 'branch'},
      el('summary', {}, el('span', {class: 'count-badge', title: `${tree.count} of ${all} threads`}, `×${tree.count}`),
          badge(kindOf(main).style, letterOf(main)), el('span', {class: 'ellipsis'}, partsOf(main).slice(0, 2).join('')),
          el('span', {class: 'dim ellipsis'}, says)),
      body);
  details.addEventListener('toggle', () => details.open && fill());
  if (level < 3 && children.length) {
    fill();
    details.open = true;
  }
  return el('li', {}, details);
}

// The frames from the root on, as the tree grows. The runtime's own frames are folded; of a long rest only both ends
// are shown.
function chainView(chain) {
  const ENDS = 4;
  const rows = [];
  for (let i = 0; i < chain.length;) {
    let end = i;
    while (end < chain.length && chain[end].role && chain[end].role === chain[i].role) ++end;
    if (end - i > 1) {
      rows.push(foldRow(i, `${chain[i].role}, ${plural(end - i, 'frame')}`,
                        chain.slice(i, end).map(({frame}) => frameRow(frame, 0, undefined, {})), {}));
      i = end;
    } else {
      rows.push(frameRow(chain[i++].frame, 0, undefined, {}));
    }
  }
  const list = el('ol', {class: 'stack chain'});
  if (rows.length <= 3 * ENDS) {
    list.append(...rows);
    return list;
  }
  const hidden = rows.slice(ENDS, -ENDS);
  const button = el('button', {type: 'button', class: 'quiet', onclick: () => more.replaceWith(...hidden)},
                    `${plural(hidden.length, 'more line')}`);
  const more = el('li', {class: 'more'}, button);
  list.append(...rows.slice(0, ENDS), more, ...rows.slice(-ENDS));
  return list;
}
