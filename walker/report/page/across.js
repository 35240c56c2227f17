// What processes of one service have in common, and what only the processes in trouble have in common.

// Up to this number, each process has a column; for more processes, a row says how many have it.
const MOST_COLUMNS = 24;
// The processes in trouble come first everywhere.
const sickFirst = processes.map((process, number) => Object.assign(process, {number})).sort((a, b) => b.sick - a.sick);

function acrossView() {
  const {groups} = hang.across;
  const sick = processes.filter((process) => process.sick).length;
  const only = groups.filter((group) => group.only_sick);
  const others = groups.filter((group) => !group.only_sick);
  return el('div', {class: 'page across'},
      el('p', {class: 'hint'}, `${sick} of ${processes.length} processes ${sick === 1 ? 'is' : 'are'} in trouble. ` +
          'Threads of several processes are alike where they wait for the same and come from the same managed methods and P/Invokes. Idle threads are left out.'),
      processTable(),
      only.length ? [el('h2', {}, 'Only in those in trouble'), groupTable(only, 'Stacks that only processes in trouble have')] : null,
      others.length ? [el('h2', {}, only.length ? 'In others too' : 'In common'), groupTable(others, 'Stacks that other processes have too')] : null);
}

const scrolled = (name, table) => el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name}, table);
const trouble = () => el('span', {class: 'tag warn'}, 'in trouble');

// Shows the first rows, and a button for the others.
function firstRows(rows, columns, noun, most) {
  if (rows.length <= most) return rows.map((row) => row());
  const more = el('tr', {}, el('td', {colspan: String(columns)}, el('button', {type: 'button', class: 'quiet',
      onclick: () => more.replaceWith(allOf(rows.slice(most).map((row) => row())))}, plural(rows.length - most, `more ${noun}`))));
  return [...rows.slice(0, most).map((row) => row()), more];
}

function processTable() {
  const MOST = 20;
  const head = ['File', 'Machine', 'Process', 'Threads', 'Time'];
  const rows = sickFirst.map((process) => () => el('tr', {},
      el('th', {scope: 'row'}, process.name, ' ', process.sick ? trouble() : null),
      el('td', {}, process.host),
      el('td', {class: 'mono'}, `${process.id} ${process.path}`),
      el('td', {class: 'num'}, String(dumps[process.last].threads.length)),
      el('td', {}, utc(dumps[process.last].time_ms), process.dumps.length > 1 ? `, the last of ${process.dumps.length} dumps` : '')));
  return scrolled('Table of processes', el('table', {},
      el('caption', {class: 'spoken'}, 'The processes'),
      el('thead', {}, el('tr', {}, ...head.map((text) => el('th', {scope: 'col'}, text)))),
      el('tbody', {}, firstRows(rows, head.length, 'file', MOST))));
}

function groupTable(groups, caption) {
  const MOST = 100;
  const columns = processes.length <= MOST_COLUMNS ? sickFirst : [];
  const width = 3 + columns.length;
  return scrolled(caption, el('table', {},
      el('caption', {class: 'spoken'}, caption),
      el('thead', {}, el('tr', {}, el('th', {scope: 'col', class: 'num'}, 'Processes'), el('th', {scope: 'col', class: 'num'}, 'Threads'),
          el('th', {scope: 'col', class: 'stack-cell'}, 'Stack'),
          columns.map((process) => el('th', {scope: 'col', class: 'num'}, process.name, process.sick ? trouble() : null)))),
      el('tbody', {}, firstRows(groups.map((group) => () => groupRow(group, columns, width)), width, 'stack', MOST))));
}

function groupRow(group, columns, width) {
  const first = threadEntries[group.threads[0]];
  const main = mainFrame(first.thread);
  const seen = first.seen[first.seen.length - 1];
  const having = group.counts.filter(Boolean).length;
  const body = el('td', {colspan: String(width)});
  const opened = el('tr', {class: 'opened', hidden: true}, body);
  const button = el('button', {type: 'button', class: 'link', 'aria-expanded': 'false', onclick: () => {
    const open = button.getAttribute('aria-expanded') !== 'true';
    if (!body.firstChild) body.append(...groupThreads(group), threadBody(first.thread, {}));
    button.setAttribute('aria-expanded', String(open));
    opened.hidden = !open;
  }}, main === undefined ? 'no frames' : partsOf(main).slice(0, 2).join(''));
  const row = el('tr', {},
      el('td', {class: 'num'}, `${having} of ${processes.length}`),
      el('td', {class: 'num'}, String(group.threads.length)),
      el('th', {scope: 'row', class: 'stack-cell'}, seen.words ? el('span', {class: 'words'}, seen.words) : null,
          el('span', {class: 'line mono'}, main === undefined ? null : badge(kindOf(main).style, letterOf(main)), button)),
      columns.map(({number}) => el('td', {class: `num${group.counts[number] ? '' : ' zero'}`}, String(group.counts[number]))));
  return allOf([row, opened]);
}

// For each process that has threads in the group: these threads.
function groupThreads(group) {
  const of = new Map();
  for (const i of group.threads) {
    const process = processOf(threadEntries[i].thread);
    if (!of.has(process)) of.set(process, []);
    of.get(process).push(threadEntries[i].thread);
  }
  return [...of].map(([process, threads]) => el('div', {class: 'process-threads'},
      el('p', {}, `${process.name}: ${plural(threads.length, 'thread')}`, ' ', process.sick ? trouble() : null), threadLinks(threads)));
}
