// The speedscope application itself, in Chromium. It shows what its own importer made from a file.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {Chromium} from './chromium.mjs';

// The application's export (Ctrl+S) passes its parsed profiles to a Blob.
const PRELUDE = `
  const ItsBlob = Blob;
  window.saved = [];
  window.Blob = class extends ItsBlob {
    constructor(parts, options) {
      super(parts, options);
      if (options?.type === 'text/json') window.saved.push(parts.join(''));
    }
  };
  window.alerts = [];
  window.alert = (text) => window.alerts.push(text);`;
const SAVE = `window.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true}));
  window.saved[0] ?? ''`;

let browser;  // one for all files, since its start takes longer than all that follows

// Returns {saved: the parsed profiles in speedscope's own format, shown: the text of its table}. The file gets a page of
// its own.
export async function open_in_speedscope(modules, file) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mixwalk-speedscope-'));
  const script = path.join(folder, 'profile.js');
  const bytes = fs.readFileSync(file).toString('base64');
  fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))},
    ${JSON.stringify(bytes)})`);
  const index = path.resolve(modules, 'speedscope/dist/release/index.html');
  browser ??= new Chromium();
  const page = await browser.open(`file://${index}#view=sandwich&localProfilePath=${script}`, PRELUDE);
  try {
    const saved = await Chromium.until(async () => {
      const problem = await page.evaluate('window.alerts?.[0] ?? ""');
      if (problem) throw new Error(`speedscope says: ${problem}`);
      return page.evaluate(SAVE);
    }, `speedscope does not take ${path.basename(file)}`);
    return {saved: JSON.parse(saved), shown: await page.evaluate('document.body.innerText')};
  } finally {
    await page.close();
    fs.rmSync(folder, {recursive: true, force: true});
  }
}

export async function close_speedscope() {
  await browser?.close();
}

// Returns the weight of each stack in a profile as speedscope saves it (frames opening and closing): a Map from the
// names, root first, joined with '\n', to a weight.
export function weights_by_stack(saved, profile) {
  const weights = new Map();
  const open = [];
  let last = profile.startValue;
  for (const event of profile.events) {
    if (event.at !== last && open.length) {
      const stack = open.join('\n');
      weights.set(stack, (weights.get(stack) ?? 0) + event.at - last);
    }
    last = event.at;
    if (event.type === 'O') open.push(saved.shared.frames[event.frame].name);
    else open.pop();
  }
  return weights;
}
