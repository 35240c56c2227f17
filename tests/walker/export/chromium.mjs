// A headless Chromium that is controlled through its pipe, so that no driver must be installed.

import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const TIMEOUT_MS = 60_000;

export class Chromium {
  constructor() {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mixwalk-chromium-'));
    this.process = spawn('chromium', [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader', '--allow-file-access-from-files', '--no-first-run',
      '--remote-debugging-pipe', `--user-data-dir=${this.folder}`, 'about:blank',
    ], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.process.on('error', (error) => {
      console.error(`FAILED: chromium does not start (${error.message}); tests/run installs it`);
      process.exit(1);
    });
    this.waiting = new Map();
    this.listeners = new Map();  // by session: the function that receives its events
    this.next = 1;
    let text = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (data) => {
      const messages = (text + data).split('\0');
      text = messages.pop();
      for (const message of messages.map((each) => JSON.parse(each))) {
        if (message.method) this.listeners.get(message.sessionId)?.(message.method, message.params);
        const {resolve, reject} = this.waiting.get(message.id) ?? {};
        this.waiting.delete(message.id);
        if (message.error) reject?.(new Error(message.error.message));
        else resolve?.(message.result);
      }
    });
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    });
  }

  // Opens a page that runs `prelude` before its own scripts. `listener` receives the page's events: (method, params);
  // `domains` are those whose events it receives.
  async open(url, prelude, {listener = () => {}, domains = []} = {}) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    this.listeners.set(sessionId, listener);
    for (const domain of ['Page', ...domains]) await this.send(`${domain}.enable`, {}, sessionId);
    await this.send('Page.addScriptToEvaluateOnNewDocument', {source: prelude}, sessionId);
    await this.send('Page.navigate', {url}, sessionId);
    return {
      send: (method, params) => this.send(method, params, sessionId),
      close: () => this.send('Target.closeTarget', {targetId}),
      evaluate: async (expression) => {
        const answer = await this.send('Runtime.evaluate',
                                       {expression, returnByValue: true, awaitPromise: true}, sessionId);
        if (answer.exceptionDetails) {
          const {text, exception} = answer.exceptionDetails;
          throw new Error(`${text} ${exception?.description ?? ''}: ${expression.slice(0, 200)}`);
        }
        return answer.result.value;
      },
    };
  }

  // Repeats the question until there is an answer.
  static async until(question, what) {
    const end = Date.now() + TIMEOUT_MS;
    while (Date.now() < end) {
      const answer = await question();
      if (answer) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${what}: not within ${TIMEOUT_MS / 1000} s`);
  }

  async close() {
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    await this.send('Browser.close').catch(() => {});
    await ended;
    fs.rmSync(this.folder, {recursive: true, force: true, maxRetries: 10});
  }
}
