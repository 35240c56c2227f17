// Measures the HTML report in headless Chromium: the processor time of the page's main thread, which other programs on
// the machine do not change much.
// usage: page.mjs PAGE.html…

import path from 'node:path';

import {ReportPage} from '../walker/report/report_page.mjs';

const browser = await ReportPage.browser();

async function measure(file) {
  const page = await ReportPage.open(browser, path.resolve(file), {prepare: async ({send}) => {
    await send('Performance.enable', {timeDomain: 'threadTicks'});
  }});
  const spent = async () => {
    const {metrics} = await page.page.send('Performance.getMetrics');
    return metrics.find(({name}) => name === 'TaskDuration').value;
  };
  const figures = {};
  let before = 0;
  const take = async (name, parts = 1) => {
    await page.settle();
    await page.settle();
    const now = await spent();
    figures[name] = `${((now - before) / parts).toFixed(2)} s`;
    before = now;
  };
  await take('load');
  if (await page.count('#flame-waiting')) {
    await page.click('#flame-waiting');
    await take('leave out');
    await page.click('#flame-waiting');
    await take('all again');
  }
  await page.key('/');
  before = await spent();
  const letters = 'orders.';
  for (const letter of letters) await page.type(letter);
  await take(`each of ${letters.length} letters`, letters.length);
  await page.key('Escape');
  before = await spent();
  await page.type('client1');
  await take('search');
  await page.key('Escape');
  before = await spent();
  if (!process.env.NO_PRINT && await page.count("#thread-list")) {
    const begin = Date.now();
    const {data} = await page.page.send('Page.printToPDF', {transferMode: 'ReturnAsBase64'}).catch((error) => ({data: error.message}));
    await take('print');
    figures.print += `, ${((Date.now() - begin) / 1000).toFixed(0)} s in all, ${data.length} bytes`;
  }
  console.log(path.basename(file), figures);
  await page.close();
}

for (const file of process.argv.slice(2)) await measure(file);
await browser.close();
