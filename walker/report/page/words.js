// Numbers and names in the form for people.

const hex = (id) => `0x${id.toString(16)}`;
const plural = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
const fileName = (path) => path.split(/[\\/]/).pop();

function duration(ns) {
  if (ns === 0) return '0';
  if (ns >= 60e9) return `${Math.floor(ns / 60e9)} min ${Math.round(ns % 60e9 / 1e9)} s`;
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(ns >= 10e9 ? 1 : 2)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(1)} ms`;
  return `${(ns / 1e3).toFixed(1)} µs`;
}

function percent(part, whole) {
  const share = whole ? 100 * part / whole : 0;
  return `${share.toFixed(share >= 10 ? 0 : 1)} %`;
}

function utc(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T', ' ').slice(0, 19) + ' UTC';
}

const threadName = (thread) => readable(thread.name);
const threadTitle = (thread) => `Thread ${hex(thread.id)}${thread.name ? ` “${threadName(thread)}”` : ''}${thread.role ? ` (${thread.role})` : ''}`;
const roleTag = (thread) => (thread.role ? el('span', {class: 'tag'}, thread.role) : null);

// The kinds of frames, with the letters of the text format. Colour is never the only mark.
const KINDS = {
  M: {name: 'managed', style: 'managed', says: '.NET code'},
  N: {name: 'native', style: 'native', says: 'code of an image, or outside of every image'},
  S: {name: 'stub', style: 'stub', says: 'code that the runtime made: calls from .NET to native code and back'},
  G: {name: 'gap', style: 'gap', says: 'frames are missing here, and the line says why'},
  W: {name: 'word', style: 'word', says: 'no frame: what happened, or why there is no stack'},
};
const GUESS_SAYS = 'the caller was guessed: the code below it has no unwind data';

const isGuessed = (frame) => (frames.flags[frame] & (FLAG.scanned | FLAG.framePointer)) !== 0;
const letterOf = (frame) => (isGuessed(frame) ? '?' : frames.kind[frame] === 'G' ? '···' : frames.kind[frame]);
const kindOf = (frame) => KINDS[frames.kind[frame]] ?? KINDS.W;

// "Client.cs:~42", without the folders of the machine that built it. Empty if the place is not known.
function placeOf(frame) {
  const file = fileName(strings[frames.file[frame]]);
  if (!file) return '';
  const line = frames.line[frame];
  return line ? `${readable(file)}:${frames.flags[frame] & FLAG.approximate ? '~' : ''}${line}` : readable(file);
}

// The source file on the web: from the portable PDB, whose maker could write anything there. GitHub's plain files
// have no lines, and its pages do. Empty if there is none.
function sourceUrl(frame) {
  const url = strings[frames.url?.[frame] ?? 0];
  if (!/^https?:\/\//i.test(url)) return '';
  const github = /^https:\/\/raw\.githubusercontent\.com\/([^/?#]+\/[^/?#]+)\/([^/?#]+)\/([^?#]+)$/.exec(url);
  const line = frames.line[frame];
  return github ? `https://github.com/${github[1]}/blob/${github[2]}/${github[3]}${line ? `#L${line}` : ''}` : url;
}

// A label in three parts: the text before the function's own name, that name, and the text after it.
function partsOf(frame) {
  const label = labels[frame];
  const kind = frames.kind[frame];
  if (kind === 'G' || kind === 'W') return ['', label, ''];
  let from = 0;
  if (kind === 'N') {
    const image = label.indexOf('!');
    // C++ names have dots and colons of their own.
    return image < 0 ? ['', label, ''] : [label.slice(0, image + 1), label.slice(image + 1), ''];
  }
  if (kind === 'S') {
    const role = label.indexOf('] ');
    if (role < 0) return ['', label, ''];
    from = role + 2;
  }
  const open = label.indexOf('(', from);
  const end = open < 0 ? label.length : open;
  let depth = 0;
  let dot = -1;
  for (let i = end - 1; i > from; --i) {
    const c = label[i];
    if (c === '>') ++depth;
    if (c === '<') --depth;
    if ((c === '.' || c === '!') && depth <= 0) {
      dot = i;
      break;
    }
  }
  // The type's own name is kept together with the method's.
  const type = dot < 0 ? -1 : label.lastIndexOf('.', dot - 1);
  const begin = Math.max(from, type >= from ? type + 1 : from);
  return [label.slice(0, begin), label.slice(begin, end), label.slice(end)];
}

const labelWithOffset = (frame) => (frames.offset[frame] ? `${labels[frame]}+${hex(frames.offset[frame])}` : labels[frame]);
