// Measures the HTML report in headless Chromium: the processor time of the page's main thread, which other programs on
// the machine do not change much, and the time that a person waits, without the pauses in which the page may draw.
// usage: page.mjs PAGE.html…

import path from 'node:path';

import {ReportPage} from '../walker/report/report_page.mjs';

const browser = await ReportPage.browser();

async function measure(file) {
  const opened = Date.now();
  const page = await ReportPage.open(browser, path.resolve(file), {prepare: async ({send}) => {
    await send('Performance.enable', {timeDomain: 'threadTicks'});
  }});
  const spent = async () => {
    const {metrics} = await page.page.send('Performance.getMetrics');
    return metrics.find(({name}) => name === 'TaskDuration').value;
  };
  const figures = {};
  const kPause = 0.05;  // of each settle()
  let before = 0;
  let begin = opened;
  let pauses = 1;
  const from_now = async () => {
    before = await spent();
    begin = Date.now();
    pauses = 0;
  };
  // `settled`: how many of the steps since have waited for the page.
  const take = async (name, parts = 1, settled = parts) => {
    await page.settle();
    const now = await spent();
    const waited = (Date.now() - begin) / 1000 - (pauses + settled + 1) * kPause;
    figures[name] = `${((now - before) / parts).toFixed(2)} s, waited ${(Math.max(waited, 0) / parts).toFixed(2)} s`;
    await from_now();
  };
  await take('load', 1, 0);
  if (await page.count('#flame-waiting')) {
    await page.click('#flame-waiting');
    await take('leave out');
    await page.click('#flame-waiting');
    await take('all again');
  }
  await page.key('/');
  await from_now();
  const letters = 'orders.';
  for (const letter of letters) await page.type(letter);
  await take(`each of ${letters.length} letters`, letters.length);
  await page.key('Escape');
  await from_now();
  await page.type('client1');
  await take('search');
  await page.key('Escape');
  await from_now();
  if (!process.env.NO_PRINT && await page.count("#thread-list")) {
    const {data} = await page.page.send('Page.printToPDF', {transferMode: 'ReturnAsBase64'});
    await take('print', 1, 0);
    figures.print += `, ${Buffer.from(data, 'base64').length} bytes`;
  }
  console.log(path.basename(file), figures);
  await page.close();
}

for (const file of process.argv.slice(2)) await measure(file);
await browser.close();
