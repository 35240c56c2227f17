// A report that is open in Chromium, with functions that act like the person who reads it.

import fs from 'node:fs';
import path from 'node:path';

import {Chromium} from '../export/chromium.mjs';

// The page's violations are recorded; this runs before the page's own scripts.
const PRELUDE = `
  window.alerts = [];
  window.alert = (text) => window.alerts.push(text);
  window.refused = [];
  addEventListener('securitypolicyviolation', (event) => window.refused.push(event.violatedDirective + ' ' + event.sample));`;

export class ReportPage {
  static async browser() { return new Chromium(); }

  static async open(browser, file, {hash = '', width = 1280, height = 800, prepare = () => {}} = {}) {
    const page = new ReportPage();
    page.heard = [];
    page.page = await browser.open('about:blank', PRELUDE, {domains: ['Network', 'Log', 'Runtime'], listener: (method, params) => {
      const url = params?.request?.url;
      if (method === 'Network.requestWillBeSent' && url !== page.url) page.heard.push(`asked for ${url}`);
      if (method === 'Log.entryAdded') page.heard.push(`${params.entry.level}: ${params.entry.text}`);
      if (method === 'Runtime.exceptionThrown') page.heard.push(params.exceptionDetails.exception?.description ?? 'exception');
      if (method === 'Runtime.consoleAPICalled') page.heard.push(`console: ${params.args.map(({value}) => value)}`);
    }});
    page.url = `file://${file}`;
    await page.page.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 600});
    await prepare(page.page);
    await page.page.send('Page.navigate', {url: page.url + hash});
    await page.until(`document.readyState === 'complete' && location.protocol === 'file:' && document.querySelector('[role=tabpanel]')`,
                     `${file}${hash} is not shown`);
    return page;
  }

  evaluate(expression) { return this.page.evaluate(expression); }
  until(expression, what) { return Chromium.until(() => this.evaluate(`Boolean(${expression})`), what); }
  close() { return this.page.close(); }

  // Returns what the browser reported about the page.
  async complaints() { return [...this.heard, ...await this.evaluate('window.refused')]; }

  count(selector) { return this.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`); }
  visible(selector) {
    return this.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].filter((each) => each.checkVisibility()).length`);
  }
  // How many threads the list has; not all of its rows are in the page.
  async listed() { return Number((await this.text('.side .count')).match(/[\d,]+/)[0].replace(',', '')); }
  text(selector) { return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`); }
  focus(selector) { return this.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`); }

  async go(hash) {
    await this.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await this.settle();
  }

  // Waits until the requested change is drawn.
  settle() { return this.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))'); }

  async choose(selector, value) {
    await this.evaluate(`{const select = document.querySelector(${JSON.stringify(selector)}); select.value = ${JSON.stringify(value)};
      select.dispatchEvent(new Event('change'));}`);
    await this.settle();
  }

  async click(selector) {
    const at = await this.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({block: 'center'});
      const {x, y, width, height} = element.getBoundingClientRect();
      return {x: x + width / 2, y: y + height / 2};
    })()`);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.page.send('Input.dispatchMouseEvent', {type, ...at, button: 'left', clickCount: 1});
    }
    await this.settle();
  }

  async key(key) {
    const code = {Enter: 13, Escape: 27, ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39}[key];
    const text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined;
    await this.page.send('Input.dispatchKeyEvent', {type: 'keyDown', key, text, windowsVirtualKeyCode: code});
    await this.page.send('Input.dispatchKeyEvent', {type: 'keyUp', key, windowsVirtualKeyCode: code});
    await this.settle();
  }

  async type(text) {
    await this.page.send('Input.insertText', {text});
    await this.settle();
  }

  async screenshot(folder, name) {
    // d3-flame-graph lets new frames grow to their width, so the picture is taken when they have it.
    await this.until(`[...document.querySelectorAll('.flame g.frame')].every((g) =>
        Math.abs(g.getAttribute('width') - g.querySelector('rect').getAttribute('width')) < 1)`, 'frames still grow');
    const {data} = await this.page.send('Page.captureScreenshot', {format: 'png'});
    fs.writeFileSync(path.join(folder, `${name}.png`), Buffer.from(data, 'base64'));
  }
}
