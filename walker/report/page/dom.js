// Elements. Text from the target reaches the page only as text. No function here takes markup, and the page's policy
// (require-trusted-types-for) would refuse it.

// el('li', {class: 'x', title: 'y', onclick: f}, 'text', child, [children], …). null and false are left out. If there
// may be thousands of children, they are passed as an array, because a call takes some ten thousand arguments at most.
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(allOf(children));
  return element;
}

// The children in a form that el takes, so that they can be added to the page at once.
function allOf(children) {
  const all = document.createDocumentFragment();
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) all.append(child);
  }
  return all;
}

// The text, with the parts that match the search marked.
function marked(text, search) {
  if (!search) return [text];
  const parts = [];
  const lowerText = text.toLowerCase();
  // A few letters change their length in lower case. If the text has such a letter, nothing is marked.
  if (lowerText.length !== text.length) return [text];
  let from = 0;
  for (;;) {
    const at = lowerText.indexOf(search, from);
    if (at < 0) break;
    if (at > from) parts.push(text.slice(from, at));
    parts.push(el('mark', {}, text.slice(at, at + search.length)));
    from = at + search.length;
  }
  parts.push(text.slice(from));
  return parts;
}

const badge = (kind, letter) => el('span', {class: `badge ${kind}`, 'aria-hidden': 'true'}, letter);
const spoken = (text) => el('span', {class: 'spoken'}, text);

function choice(label, id, options, onchange) {
  const select = el('select', {id, onchange: () => onchange(select.value)},
      options.map(([value, text]) => el('option', {value}, text)));
  return el('label', {class: 'choice'}, el('span', {}, label), select);
}

// A search waits until typing pauses, since a page may have thousands of threads.
function searchBox(label, id, oninput) {
  const PAUSE_MS = 30;
  let pause = 0;
  const input = el('input', {type: 'search', id, placeholder: `${label}  ( / )`, 'aria-label': label,
                             autocomplete: 'off', spellcheck: 'false'});
  input.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => oninput(input.value.trim()), PAUSE_MS);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    if (input.value) {
      clearTimeout(pause);
      input.value = '';
      oninput('');
    } else {
      input.blur();
    }
    event.preventDefault();
  });
  return input;
}

// Puts the text of the address into the box, unless the box has it; a space at its end may have been typed.
function fillSearch(input, text) {
  if (input.value.trim() !== text) input.value = text;
}
