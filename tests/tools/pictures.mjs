// Makes the pictures in docs/images: pages that mixwalk writes from the recordings in tests/golden/questions, in Chromium.
// usage: node tests/tools/pictures.mjs MIXWALK   in the repository's folder; MIXWALK: build/linux/bin/mixwalk
// A picture depends on Chromium's version and fonts, so no test compares it. Make the pictures again after a change of the
// page.

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {Chromium} from '../walker/export/chromium.mjs';

const RECORDINGS = 'tests/golden/questions';
// The files have other names in the folder where mixwalk runs, which the page shows: {NAME: FILE}.
const PICTURES = [
  {name: 'report-dump', files: {'orders.mixwalk': 'orders.mixwalk'}, command: ['convert', 'orders.mixwalk'],
   hash: '#thread=0x664', size: [1120, 640]},
  {name: 'report-findings', files: {'orders.mixwalk': 'deadlock.mixwalk'}, command: ['compare', 'orders.mixwalk'],
   hash: '', size: [1180, 660]},
  {name: 'report-difference', files: {'yesterday.mixwalk': 'yesterday.mixwalk', 'today.mixwalk': 'today.mixwalk'},
   command: ['compare', 'yesterday.mixwalk', 'today.mixwalk'], hash: '', size: [1280, 800],
   prepare: `document.querySelector('input[type=checkbox]').click()`},  // leaves out threads that wait
];

const mixwalk = path.resolve(process.argv[2]);
const browser = new Chromium();
try {
  for (const {name, files, command, hash, size: [width, height], prepare} of PICTURES) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mixwalk-pictures-'));
    for (const [shown, file] of Object.entries(files)) fs.copyFileSync(path.join(RECORDINGS, file), path.join(folder, shown));
    try {
      execFileSync(mixwalk, [...command, '-o', 'page.html'], {cwd: folder, stdio: 'inherit'});
    } catch (error) {
      if (![20, 21].includes(error.status)) throw error;  // threads are stuck, or deadlocked
    }
    const page = await browser.open(`file://${folder}/page.html${hash}`, '');
    await page.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
    await page.send('Emulation.setScrollbarsHidden', {hidden: true});
    await page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: 'light'}]});
    await Chromium.until(() => page.evaluate('document.readyState === "complete"'), name);
    if (prepare) await page.evaluate(prepare);
    await new Promise((resolve) => setTimeout(resolve, 1000));  // the graph grows into its place
    const {data} = await page.send('Page.captureScreenshot', {format: 'png'});
    fs.writeFileSync(`docs/images/${name}.png`, Buffer.from(data, 'base64'));
    await page.close();
    fs.rmSync(folder, {recursive: true});
    console.log(`docs/images/${name}.png`);
  }
} finally {
  await browser.close();
}
