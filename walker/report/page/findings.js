// The findings of compare and report, the most severe first. A circle of locks is shown as a chain that closes.

function findingsView() {
  // Only the first findings are shown if there are many. For a fleet fewer are shown, since the same is mostly wrong
  // with each of its processes.
  const most = isFleet ? 3 : 12;
  const shown = hang.findings.length > most + 1 ? hang.findings.slice(0, most) : hang.findings;
  const rest = hang.findings.slice(shown.length);
  const more = el('button', {type: 'button', class: 'quiet more-findings',
                             onclick: () => more.replaceWith(allOf(rest.map(findingCard)))}, plural(rest.length, 'more finding'));
  return [el('p', {class: `headline ${hang.severity}`}, readable(hang.headline)),
          ...shown.map(findingCard), rest.length ? more : null,
          hang.gaps.length ? el('ul', {class: 'notes'}, ...hang.gaps.map((gap) => el('li', {}, readable(gap)))) : null].filter(Boolean);
}

function findingCard(finding) {
  const chained = ['deadlock', 'chain'].includes(finding.kind);
  const SHOWN = 8;
  const steps = finding.threads.map(findingStep);
  const rest = steps.splice(chained ? 200 : SHOWN);
  const list = el(chained ? 'ol' : 'ul', {class: `steps${chained ? ' chained' : ''}`}, ...steps);
  if (rest.length) {
    const more = el('li', {}, el('button', {type: 'button', class: 'quiet', onclick: () => more.replaceWith(allOf(rest))},
                                 plural(rest.length, 'more thread')));
    list.append(more);
  }
  if (finding.kind === 'deadlock') list.append(el('li', {class: 'closing'}, '↑ and so back to the first'));
  const behind = finding.behind.map((i) => threadEntries[i].thread);
  return el('article', {class: `finding ${finding.severity}`},
      el('h3', {}, readable(finding.title), isFleet && finding.threads.length ? el('span', {class: 'dim'}, ` in ${processOf(finding.threads[0]).name}`) : null),
      ...finding.details.map((detail) => el('p', {}, readable(detail))),
      list,
      behind.length ? el('details', {}, el('summary', {}, `${plural(behind.length, 'more thread')} ${finding.kind === 'deadlock' ? 'behind these' : 'of this finding'}`), threadLinks(behind)) : null);
}

// A thread in a finding: its name, what it does, and the most important frames.
function findingStep(part) {
  const entry = threadEntries[part.thread];
  const seen = entry.seen.find((each) => each.dump === part.dump) ?? entry.seen[entry.seen.length - 1];
  const stack = stackOf(seen.thread.leaf);
  const shown = part.frames.filter((at) => at < stack.length).map((at) => stack[at]);
  if (!shown.length && stack.length) shown.push(mainOf(stack));
  return el('li', {class: 'step'},
      el('p', {}, el('a', {href: linkOf(seen.thread)}, threadTitle(seen.thread)), ' ', verdictBadge(entry.verdict), ' ', readable(part.words)),
      shown.length ? el('ol', {class: 'stack chain'}, ...shown.map((frame) => frameRow(frame, 0, undefined, {}))) : null);
}

// The crash because of which a dump was written, for a page without findings.
function crashCard({crash, threads}) {
  const thread = threads.find(({id}) => id === crash.thread);
  const stack = thread ? stackOf(thread.leaf) : [];
  const shown = crash.frames.filter((at) => at < stack.length).map((at) => stack[at]);
  return el('article', {class: 'finding crash'},
      el('h3', {}, readable(crash.title)),
      ...crash.details.map((detail) => el('p', {}, readable(detail))),
      el('ul', {class: 'steps'}, el('li', {class: 'step'},
          el('p', {}, thread ? el('a', {href: linkOf(thread)}, threadTitle(thread)) : `Thread ${hex(crash.thread)}`, ' crashed'),
          shown.length ? el('ol', {class: 'stack chain'}, ...shown.map((frame) => frameRow(frame, 0, undefined, {}))) : null)));
}
