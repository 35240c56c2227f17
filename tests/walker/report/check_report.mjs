// Tests the HTML report in a browser: what a person does with it, what it must not do, and whether everybody can use
// it.
// usage: check_report.mjs WRITE_EXPORT NODE_MODULES SCREENSHOTS

import fs from 'node:fs';
import path from 'node:path';

import {Exports, expect_equal, finish, problems} from '../export/facts.mjs';
import {ReportPage} from './report_page.mjs';

const [program, modules, screenshots] = process.argv.slice(2);
const exports_ = new Exports(program);
fs.mkdirSync(screenshots, {recursive: true});
const axe = fs.readFileSync(path.resolve(modules, 'axe-core/axe.min.js'), 'utf8');
const browser = await ReportPage.browser();
const file = (recording) => exports_.file(recording, 'html', `${recording}.html`);
const open = (recording, options) => ReportPage.open(browser, file(recording), options);

// Expects that the page asked for nothing on a network, that its policy refused nothing, and that no error was logged.
// Then closes the page.
async function expect_quiet(page, what) {
  expect_equal(await page.complaints(), [], `${what}: complaints of the browser`);
  await page.close();
}

// Expects that axe-core finds no fault, in both themes.
async function expect_accessible(page, what) {
  for (const theme of ['light', 'dark']) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    const wrong = await page.evaluate(`(async () => {
      if (!window.axe) { ${axe} }
      const {violations} = await axe.run(document);
      return violations.map(({id, nodes}) => id + ': ' + nodes.slice(0, 3).map(({html}) => html.slice(0, 160)).join(' | '));
    })()`);
    expect_equal(wrong, [], `${what}, ${theme}: accessibility`);
  }
}

async function a_dump_by_hand() {
  const page = await open('hostile');
  const all = await page.listed();
  expect_equal(await page.count('#thread-list a'), all, 'the number of threads');

  await page.key('/');
  await page.type('<SCRIPT>alert');
  expect_equal(await page.listed(), 1, 'threads with the name of a script');
  await page.key('Escape');
  expect_equal(await page.listed(), all, 'threads after Escape');
  await page.type('holds it');
  await page.key('ArrowDown');
  expect_equal(await page.evaluate('document.activeElement.hash'), '#thread=0x200', 'the list takes the focus from the search');
  await page.key('Enter');
  expect_equal(await page.text('#thread-detail h2'), 'Thread 0x200 holds it main thread', 'the thread that was chosen');
  await page.screenshot(screenshots, 'dump');

  // Consecutive frames of the runtime are one line, which can be opened.
  const lines = await page.visible('.stack .frame');
  await page.click('.fold');
  expect_equal(await page.visible('.stack .frame'), lines + 3, 'frames after the folded ones were opened');
  await page.click('.fold');
  expect_equal(await page.visible('.stack .frame'), lines, 'frames after they were folded again');
  expect_equal(await page.text('.lock-lines'),
               'holds the monitor of System.Object at 0x1000, for which 2 threads wait', 'what the thread holds');

  await page.key('/');
  await page.key('Escape');
  await page.click('#thread-list a[href="#thread=0x1a4"]');
  expect_equal(await page.evaluate('location.hash'), '#thread=0x1a4', 'the address after a click');
  await page.key('ArrowDown');
  expect_equal(await page.text('#thread-detail h2'), 'Thread 0x1a8  ', 'the thread below');
  expect_equal(await page.text('.lock-lines'), 'waits to be pulsed at the monitor of System.Object at 0x1000', 'what it waits for');
  expect_equal(await page.count('.stack .frame.gap'), 2, 'gaps');

  await page.choose('#filter', 'locks');
  expect_equal(await page.listed(), 2, 'threads that wait for a lock');
  await page.choose('#filter', 'all');
  await page.choose('#module', 'ntdll.dll');
  expect_equal(await page.listed(), 4, 'threads that pass ntdll.dll');
  await page.choose('#module', '');
  await page.choose('#sort', 'frames');
  expect_equal(await page.evaluate(`document.querySelector('#thread-list a').hash`), '#thread=0x200', 'the deepest stack');

  await page.go('#thread=0x9999');
  expect_equal(await page.text('#thread-detail .empty'), 'There is no thread 0x9999 here.', 'a thread that is not there');
  await page.go('#thread=0x200&search=nothing%20has%20it');
  expect_equal([await page.text('#thread-detail h2'), await page.visible('#thread-detail > p.notes')], ['Thread 0x200 holds it main thread', 1], 'a thread that the search hides');
  await page.go('#thread=0x200');
  expect_equal(await page.visible('#thread-detail > p.notes'), 0, 'a thread that is in the list');

  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const before = await ground();
  await page.click('#theme');
  expect_equal(await ground() !== before, true, 'the theme changes the ground');
  expect_equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark', 'the theme after the switch');
  await page.screenshot(screenshots, 'dump-dark');
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  expect_equal(await page.count('#print section'), all, 'threads on paper');
  expect_equal(await page.text('#print section:last-of-type pre') !== null, true, 'a stack on paper');
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await expect_quiet(page, 'a dump by hand');
}

// Names from the target must be shown as text in every place.
async function names_are_text() {
  const page = await open('hostile', {hash: '#thread=0x300'});
  expect_equal(await page.text('#thread-detail h2'), 'Thread 0x300 <script>alert(1)</script> ', 'a deep link to a thread');
  for (const view of ['threads', 'groups', 'tree', 'flame', 'locks']) {
    await page.go(`#view=${view}`);
    await page.evaluate(`document.querySelectorAll('details').forEach((each) => { each.open = true; })`);
    expect_equal(await page.count('#main img, #main script'), 0, `${view}: elements that a name made`);
    expect_equal(await page.evaluate(`/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)`), false,
                 `${view}: direction marks`);
    await expect_accessible(page, view);
    await page.screenshot(screenshots, view);
  }
  expect_equal(await page.evaluate('window.alerts'), [], 'alerts');
  await expect_quiet(page, 'names');
}

// Tasks are lines of a kind of their own: below the frames of a thread, in a list, and on paper.
async function tasks_by_hand() {
  const page = await open('hostile-tasks', {hash: '#thread=0x1a4'});
  expect_equal(await page.evaluate(`[...document.querySelectorAll('#thread-detail .frame.async .label')].map((each) => each.textContent)`),
               ['await Orders.Window.LoadAsync()  (Window.cs:31)',
                'await Orders.Client.FetchAsync() → done, its continuation waits for thread 0x1a4 "Orders worker"'], 'what a thread waits for');
  expect_equal(await page.text('#thread-detail .frame.async .badge'), 'A', 'the letter of a task');
  await expect_accessible(page, 'a thread with tasks');
  await page.go('#thread=0x1b0');
  expect_equal(await page.count('#thread-detail .frame.async'), 5, 'branches of tasks');
  expect_equal((await page.text('#thread-detail .frame.async.cut')).endsWith('… 2 more tasks'), true, 'tasks that are left out');
  await page.go('#thread=0x200');
  expect_equal(await page.count('#thread-detail .frame.async'), 0, 'lines of a thread that waits for no task');

  await page.go('#view=tasks');
  expect_equal(await page.text('[role=tab][aria-selected=true]'), 'Tasks (13)', 'the list of tasks');
  expect_equal(await page.count('.chain-group'), 13, 'chains that no thread waits for');
  expect_equal((await page.text('[role=tabpanel] .notes')).includes('the time for tasks was over'), true, 'why tasks may be missing');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('.chain-group .label')].filter((each) => each.textContent.includes('await <script>alert(1)</script>')).length`),
               2, 'methods with the name of a script');
  expect_equal(await page.count('#main img, #main script'), 0, 'elements that the name of a method made');
  expect_equal(await page.evaluate(`/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)`), false, 'direction marks in tasks');
  expect_equal(await page.evaluate('window.alerts'), [], 'alerts of tasks');
  await expect_accessible(page, 'tasks');
  await page.screenshot(screenshots, 'tasks');
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  expect_equal(await page.evaluate(`document.getElementById('print').textContent.includes('A  await Orders.Window.LoadAsync()')`), true, 'tasks on paper');
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await expect_quiet(page, 'tasks');
}

// Compares a thread with itself in other dumps.
async function a_series_by_hand() {
  const page = await open('series', {hash: '#thread=0x200'});
  expect_equal(await page.count('.column'), 2, 'dumps side by side');
  expect_equal(await page.text('.column .changed .name'), 'NtWaitForSingleObject', 'the first frame that changed');
  expect_equal(await page.count('.column:last-child .changed'), 4, 'frames that changed');
  expect_equal(await page.text('.detail .hint'), '5 frames from the root in common; the frames above changed.', 'what is in common');
  await page.screenshot(screenshots, 'series');
  await page.choose("[aria-label='Dump right']", '0');
  expect_equal(await page.count('.changed'), 0, 'frames that changed between a dump and one like it');
  await page.go('#thread=0x1b0');
  expect_equal(await page.count('.column'), 0, 'a thread that is in one dump');
  await expect_accessible(page, 'series');
  await expect_quiet(page, 'a series');
}

// The trouble must come first.
async function a_deadlock_by_hand() {
  const page = await open('deadlock');
  const [headline, title] = [await page.text('.headline'), await page.text('.finding h3')];
  expect_equal(/deadlock/i.test(headline), true, `the headline: ${headline}`);
  expect_equal(/deadlock/i.test(title), true, `the first finding: ${title}`);
  expect_equal(await page.evaluate(`document.querySelector('.headline').getBoundingClientRect().bottom < innerHeight / 2`), true,
               'the headline is in the first half of the screen');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('.finding:first-of-type .step > p > a')].map((a) => a.hash)`),
               ['#thread=0x200', '#thread=0x204'], 'the threads of the circle');
  expect_equal(await page.count('.finding .closing'), 1, 'a circle closes');
  expect_equal(await page.text('#thread-list .verdict'), 'stuck', 'the first thread of the list');
  await page.screenshot(screenshots, 'findings');
  await page.choose('#filter', 'verdict stuck');
  const stuck = await page.listed();
  expect_equal(stuck > 0 && stuck < await page.evaluate('threadEntries.length'), true, `threads that are stuck: ${stuck}`);
  await page.click('.finding .step a');
  expect_equal(await page.text('#thread-detail h2'), 'Thread 0x200 holds it main thread', 'the thread of a finding');
  await expect_accessible(page, 'findings');
  await expect_quiet(page, 'findings');
}

async function a_recording_by_hand() {
  const page = await open('sqlite');
  const frames = await page.count('.flame g.frame');
  await page.key('/');
  await page.type('e_sqlite3');
  const found = await page.text('.flame + .flame-details') && await page.text('.page > .count');
  expect_equal(/^\d+ frames found, \d/.test(found), true, `what the search says: ${found}`);
  await page.screenshot(screenshots, 'flame-search');
  await page.key('Escape');
  await page.focus('.flame');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.key(key);
  const zoomed = await page.count('.flame g.frame');
  expect_equal(zoomed < frames, true, `frames after a zoom: ${zoomed} of ${frames}`);
  await page.key('Escape');
  expect_equal(await page.count('.flame g.frame'), frames, 'frames after Escape');
  await expect_accessible(page, 'flame graph');

  await page.go('#view=timeline');
  const strips = await page.count('canvas.strip');
  expect_equal(strips, 8, 'strips');
  await page.click('canvas.strip');
  expect_equal(await page.visible('.detail .frame') > 3, true, 'the stack at a time');
  const at = await page.text('.detail h2');
  await page.key('ArrowRight');
  expect_equal(await page.text('.detail h2') !== at, true, 'the time after an arrow');
  await page.choose('#strip-colour', 'name');
  await expect_accessible(page, 'over time');
  await page.screenshot(screenshots, 'timeline');
  await page.go('#view=timeline&thread=0x9999');
  expect_equal(await page.text('.detail .empty'), 'There is no thread 0x9999 here.', 'a thread that has no strip');
  await expect_quiet(page, 'a recording');
}

// A UI thread that waits for messages is idle, and a thread that has the id of another has its own sums.
async function an_idle_recording_by_hand() {
  const page = await open('idle');
  const total = () => page.evaluate(`d3.select('.flame').datum().data.value / 1e6`);
  const names = () => page.evaluate(`d3.select('.flame').datum().descendants().map(({data}) => data.name)`);
  expect_equal((await page.text('#facts')).includes('idle 75 %, runs 25 %'), true, 'the standings in the head');
  expect_equal((await page.text('#facts')).includes('machine WEB7'), true, 'the machine in the head');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('#flame-thread option')].map((each) => each.textContent)`),
               ['all threads', 'Thread 0x10 “ui” (main and UI thread): 30.0 ms', 'Thread 0x10 “worker”: 10.0 ms'], 'threads with one id');
  expect_equal((await names()).filter((name) => name.includes('[')), ['W [the runtime]', 'W [thread start]'], 'folded frames');
  await page.choose('#flame-thread', '0x10.2');
  expect_equal(await total(), 10, 'the sum of the second thread alone');
  expect_equal(await page.evaluate('location.hash'), '#thread=0x10.2', 'the thread in the address');
  expect_equal(await page.text('.flame-details'), 'Point at a frame, or use the arrow keys.', 'the details after another thread was chosen');
  await page.choose('#flame-thread', '');
  await page.click('#flame-waiting');
  expect_equal([await total(), await page.evaluate('location.hash')], [10, '#waiting=out'], 'without threads that wait');
  await page.click('#flame-waiting');

  // The address has what is shown, and the browser goes back.
  await page.focus('.flame');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.key(key);
  const zoomed = await page.evaluate('location.hash');
  expect_equal(/^#zoom=\d+$/.test(zoomed), true, `the zoom in the address: ${zoomed}`);
  expect_equal(await page.text('.flame-details'), 'M System.Windows.Forms.Application.Run(System.Windows.Forms.Form) — 30.0 ms, 75 %', 'the details after a zoom');
  await page.key('/');
  await page.type('getmessage');
  expect_equal(await page.evaluate('location.hash'), `${zoomed}&search=getmessage`, 'the search in the address');
  await page.evaluate('history.back()');
  await page.settle();
  expect_equal([await page.evaluate('location.hash'), await page.evaluate(`document.getElementById('search').value`)], ['', ''], 'the address after back');
  expect_equal((await names()).length, 8, 'everything is shown after back');
  await page.evaluate('history.forward()');
  await page.settle();
  expect_equal(await page.text('.page > .count'), '1 frame found, 75 % of all', 'the search after forward');
  await page.go('#view=flame&thread=0x9999');
  expect_equal(await page.text('.flame .empty'), 'There is no thread 0x9999 here.', 'a thread that is not there');
  await expect_quiet(page, 'an idle recording');
}

// Shows how two recordings differ.
async function a_difference_by_hand() {
  const page = await open('difference');
  expect_equal(await page.text('h1'), 'orders.exe before and after', 'the title');
  expect_equal(/28\.1 samples a second of each thread, 100 asked for[^]*30\.8 samples a second/.test(await page.text('#dumps')), true, 'the rate of each');
  expect_equal(await page.count('.scale .swatch'), 9, 'colours of the legend');
  const rows = () => page.evaluate(`d3.select('.flame').datum().descendants()
      .map(({data}) => [data.name, data.sides.map((share) => Math.round(1000 * share)), Math.round(1000 * data.value)])
      .filter(([name]) => /Service\\.(Price|Ship|Log|Parse)/.test(name))`);
  // The shares are of 300 samples before, and of 170 after.
  const shown = async () => Object.fromEntries((await rows()).map(([name, sides, width]) => [name, [sides, width]]));
  expect_equal(Object.keys(await shown()).sort(), ['▲ M Orders.Service.Price(int)', '▼ M Orders.Service.Log(string)',
                                                   '▼ M Orders.Service.Parse(string)', '▼ M Orders.Service.Ship(int)'], 'what grew and what shrank');
  expect_equal((await shown())['▲ M Orders.Service.Price(int)'], [[67, 176], 122], 'shares before and after, and the width');
  await page.choose('#difference-width', 'after');
  expect_equal((await shown())['▲ M Orders.Service.Price(int)'], [[67, 176], 176], 'the width by the share after');
  expect_equal('▼ M Orders.Service.Log(string)' in await shown(), false, 'what is gone has no width after');
  await page.choose('#difference-width', 'both');

  // Without the thread that waits, half of all samples are left.
  await page.click('#flame-waiting');
  expect_equal((await shown())['▲ M Orders.Service.Price(int)'], [[133, 353], 243], 'shares without threads that wait');
  await page.screenshot(screenshots, 'difference');
  const fills = await page.evaluate(`Object.fromEntries([...document.querySelectorAll('.flame g.frame')]
      .map((g) => [d3.select(g).datum().data.name, g.querySelector('rect').getAttribute('fill')]))`);
  expect_equal(fills['▲ M Orders.Service.Price(int)'], '#f1701c', 'the colour of what grew by 22 points');
  expect_equal(fills['▼ M Orders.Service.Log(string)'], '#4a97cb', 'the colour of what shrank by 27 points');
  expect_equal(fills['M Orders.Program.Main()'], '#dfe3e8', 'the colour of what is as it was');
  await page.key('/');
  await page.type('sqlite3_step');
  expect_equal(await page.text('.page > .count'), '1 frame found, 24 % of all', 'what the search says');
  await page.key('Escape');
  await page.focus('.flame');
  const frames = await page.count('.flame g.frame');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.key(key);
  expect_equal(await page.text('.flame-details'), '▼ M Orders.Service.Ship(int) — 40.0 % → 17.6 %, −22.4 points', 'the frame that the keyboard is at');
  expect_equal(await page.count('.flame g.frame') < frames, true, 'frames after a zoom');
  await page.key('Escape');
  expect_equal(await page.count('.flame g.frame'), frames, 'frames after Escape');
  await expect_accessible(page, 'difference');

  await page.go('#view=frames');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('.changes tbody tr')].slice(0, 2).map((row) => row.innerText.replace(/\\s+/g, ' ').trim())`),
               ['M managed: Orders.Service.Audit<script>alert(1)</script> ▲ +14.7 0.0 % 14.7 % ▲ +14.7 0.0 % 14.7 %',
                'N native: e_sqlite3.dll!write_line ▼ −13.3 13.3 % 0.0 % ▼ −13.3 13.3 % 0.0 %'], 'the frames that changed most');
  await page.choose('#changes-show', 'more');
  await page.choose('#changes-order', 'self');
  expect_equal(await page.text('.changes tbody .link'), 'Orders.Service.Audit<script>alert(1)</script>', 'the frame that grew most in itself');
  await page.screenshot(screenshots, 'frames');
  await page.key('/');
  await page.type('price');
  expect_equal(await page.count('.changes tbody tr'), 0, 'frames with a text that grew in themselves');
  await page.choose('#changes-order', 'total');
  expect_equal(await page.count('.changes tbody tr'), 1, 'frames with a text that grew');
  await expect_accessible(page, 'frames');
  await page.click('.changes tbody .link');
  await page.until(`document.querySelector('.flame')`, 'the flame graph is not shown');
  expect_equal(await page.text('.page > .count'), '1 frame found, 12 % of all', 'the frame in the flame graph');
  expect_equal(await page.evaluate('window.alerts'), [], 'alerts');
  await expect_quiet(page, 'a difference');
}

// Shows what machines have in common.
async function a_fleet_by_hand() {
  const page = await open('fleet');
  expect_equal(await page.text('[role=tab][aria-selected=true]'), '4 processes', 'the first view');
  expect_equal(await page.text('h1'), '2 programs 4 processes', 'the title of several processes');
  expect_equal(await page.text('#facts'), '60 threads in all', 'facts of all processes');
  const heads = await page.evaluate(`[...document.querySelectorAll('#dumps > li')].map((each) => each.textContent)`);
  expect_equal(heads.length, 4, 'heads, one a process');
  expect_equal([heads[0].startsWith('web1.mixwalk machine WEB4711 · process 4711 · C:\\orders\\') && heads[0].includes(' · .NET 10.0.12 · '),
                heads[1].startsWith('web2.mixwalk machine WEB4712 · process 4712 · D:\\billing\\billing.exe · .NET 8.0.31 · '),
                heads[1].includes('Dump 4: '), heads[1].includes('Dump 3: ')], [true, true, true, false], `the head of a process: ${heads[0]}; ${heads[1]}`);
  expect_equal(await page.text('.across .hint').then((text) => text.split('.')[0]), '2 of 4 processes are in trouble', 'how many are in trouble');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('.across .scroll:first-of-type tbody tr')].length`), 4, 'processes');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('.across .scroll:first-of-type tbody tr')].map((row) => row.cells[1].textContent)`),
               ['WEB4711', 'WEB4712', 'WEB4713', 'WEB4714'], 'machines, those in trouble first');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('.across h2')].map((each) => each.textContent)`),
               ['Only in those in trouble', 'In others too'], 'parts of the list');
  const cells = await page.evaluate(`[...[...document.querySelectorAll('.across .scroll')][1].querySelector('tbody tr').querySelectorAll('.num')].map((each) => each.textContent)`);
  expect_equal([cells[0], cells.slice(2)[2], cells.slice(2)[3]], ['2 of 4', '0', '0'], 'a stack that only those in trouble have');
  expect_equal(await page.count('.opened:not([hidden])'), 0, 'stacks that are open');
  await page.click('.across tbody .link');
  expect_equal(await page.count('.opened:not([hidden])'), 1, 'stacks that are open after a click');
  expect_equal(await page.evaluate(`[...document.querySelectorAll('.opened:not([hidden]) .process-threads p')].map((each) => each.textContent.trim())`),
               ['web1.mixwalk: 2 threads in trouble', 'web2.mixwalk: 2 threads in trouble'], 'threads of each process');
  await page.screenshot(screenshots, 'fleet');
  await expect_accessible(page, 'fleet');
  await page.click('.opened:not([hidden]) .process-threads:last-of-type a');
  expect_equal(await page.evaluate('location.hash.startsWith("#thread=0x200")'), true, 'a thread of the second process');
  expect_equal(await page.text('#thread-detail .facts li'), 'web2.mixwalk', 'the process of a thread');
  const all = await page.listed();
  await page.choose('#process', '0');
  expect_equal(await page.listed() < all, true, 'threads of one process');
  await expect_accessible(page, 'threads of a fleet');
  await page.go('#view=groups');
  expect_equal(await page.text('[role=tabpanel] > .hint'), 'Of the last dump alone: web2.mixwalk.', 'what the other views show');
  await expect_quiet(page, 'a fleet');

  const large = await open('large-fleet');
  expect_equal(await large.count('#dumps li'), 11, 'processes in the head of a large fleet: ten, and a button');
  expect_equal(await large.count('.across .scroll:first-of-type tbody tr'), 21, 'processes of a large fleet: twenty, and a button');
  expect_equal(await large.count('.finding'), 3, 'findings of a large fleet');
  expect_equal(await large.text('.finding h3'), 'Deadlock of 2 threads in web0.mixwalk', 'the process of a finding');
  await large.screenshot(screenshots, 'large-fleet');
  await large.click('.more-findings');
  expect_equal(await large.count('.finding') >= 60, true, 'all findings');
  await large.click('#dumps button');
  expect_equal(await large.count('#dumps li'), 60, 'all processes');
  await expect_quiet(large, 'a large fleet');
}

async function on_a_phone() {
  for (const [recording, hash] of [['fleet', ''], ['difference', ''], ['difference', '#view=frames'], ['hostile', ''], ['hostile', '#view=tree'], ['hostile', '#view=locks'], ['hostile-tasks', '#view=tasks'], ['series', '#thread=0x200'],
                                   ['sqlite', ''],
                                   ['sqlite', '#view=timeline']]) {
    const page = await open(recording, {hash, width: 390, height: 844});
    expect_equal(await page.evaluate('document.documentElement.scrollWidth'), 390, `${recording}${hash}: width on a phone`);
    await page.screenshot(screenshots, `phone-${recording}${hash.replace(/#.*=/, '-')}`);
    await expect_quiet(page, 'a phone');
  }
}

async function odd_recordings() {
  for (const recording of ['empty', 'dump', 'exception', 'parked']) {
    const page = await open(recording);
    expect_equal(await page.count('[role=tabpanel]'), 1, `${recording}: it is shown`);
    const rated = (await page.text('#facts')).includes('10.0 samples a second of each thread, 100 asked for');
    expect_equal(rated, recording === 'parked', `${recording}: the rate in its head`);
    await expect_quiet(page, recording);
  }
}

// These are benchmarks, not tests, because machines differ.
async function a_thousand_threads() {
  for (const recording of ['many-threads', 'many-threads-series']) await thousand_threads_of(recording);
}

async function thousand_threads_of(recording) {
  const page = await open(recording);
  expect_equal(await page.count('#thread-list a') < 100, true, 'only rows near the screen are in the page');
  await page.focus('#thread-list a');
  await page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true}))`);
  expect_equal(await page.evaluate('document.activeElement.hash'), '#thread=0x1f9c', 'the last row, which was not in the page');
  const shown = await page.evaluate('performance.now()');
  expect_equal(await page.listed(), 1000, 'a thousand threads');
  const timed = (what) => page.evaluate(`(async () => {
    const begin = performance.now();
    ${what}
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));  // searchBox() waits as well
    return performance.now() - begin - 50;
  })()`);
  const input = (text) => `const box = document.getElementById('search'); box.value = '${text}'; box.dispatchEvent(new Event('input'));`;
  const searched = await timed(input('step29'));
  expect_equal(await page.listed() < 1000, true, 'the search leaves some out');
  const filtered = await timed(`${input('')} const box2 = document.getElementById('filter'); box2.value = 'locks';
    box2.dispatchEvent(new Event('change'));`);
  const views = {};
  for (const view of ['groups', 'tree', 'flame']) views[view] = Math.round(await timed(`location.hash = 'view=${view}';`));
  await page.go('#view=groups');
  expect_equal(await page.evaluate(`(() => {
    const cards = [...document.querySelectorAll('.group summary')].map((each) => [...each.querySelectorAll('.ellipsis')].map(({textContent}) => textContent));
    const titles = cards.map(([title]) => title);
    return cards.filter(([title, difference]) => titles.indexOf(title) !== titles.lastIndexOf(title) && !difference).length;
  })()`), 0, 'groups of the same title that do not say how they differ');
  // Real case: Chromium ended while it printed a page that had an element for each part of each frame. (Of a series,
  // one dump is printed, so one page is enough.)
  if (recording === 'many-threads') {
    const {data} = await page.page.send('Page.printToPDF');
    expect_equal(data.length > 100_000, true, 'all stacks on paper');
  }
  const size = fs.statSync(file(recording)).size;
  console.log(`${recording}: 1,000 threads, ${size} bytes: opened in ${Math.round(shown)} ms, searched in ${Math.round(searched)} ms, filtered in ` +
              `${Math.round(filtered)} ms; views ${JSON.stringify(views)}`);
  await expect_quiet(page, 'a thousand threads');
}

try {
  for (const part of [a_dump_by_hand, names_are_text, tasks_by_hand, a_series_by_hand, a_deadlock_by_hand, a_recording_by_hand, an_idle_recording_by_hand, a_difference_by_hand, a_fleet_by_hand, on_a_phone, odd_recordings, a_thousand_threads]) {
    await part();
  }
} finally {
  await browser.close();
}
finish('a browser opens the report, and finds nothing wrong with it');
