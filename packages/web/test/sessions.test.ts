import { pathToFileURL } from 'node:url';
import { readSessionReceipt, SessionRecorder } from '@tallystick/core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SessionCase } from '../../../scripts/vectors/sessions.ts';
import { bundleOf, readVectors, stores } from '../../core/test/receipt-vectors.ts';
import { builtPage } from '../scripts/page.ts';
import type { Later } from '../src/later/main.ts';
import { addBundle, launch, type Opened, open } from './browser.ts';
import {
  closedSession,
  recorderOptions,
  type TamperedSession,
  tamperedSessions,
  toolCall,
} from './tampered-sessions.ts';

const address = pathToFileURL(builtPage('verify').pathname).href;
/** Number of random sessions that the page judges. TALLY_TEST_SESSIONS=10000 makes the long run. */
const SESSIONS = Number(process.env.TALLY_TEST_SESSIONS ?? 2_000);
const vectors = readVectors<SessionCase>('sessions.json');
const vector = (name: string): SessionCase => {
  const found = vectors.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no case ${name}.`);
  return found;
};

let browser: Browser;
let opened: Opened;
let page: Page;

beforeAll(async () => {
  browser = await launch();
  opened = await open(browser, address);
  ({ page } = opened);
  await opened.context.setOffline(true);
  await addBundle(page, await bundleOf(stores.known));
  await page.waitForSelector('text=Version 1');
  // What is shown before the last of several files is taken is not what is shown of all.
  await page.evaluate(() => {
    const [files, result] = ['session-files', 'result'].map((id) => document.getElementById(id));
    if (files) new MutationObserver(() => result?.replaceChildren()).observe(files, { childList: true });
  });
});
afterAll(() => browser.close());

/** Drops files onto the page together. */
async function drop(files: Readonly<Record<string, string>>): Promise<void> {
  await page.evaluate((texts) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(texts)) dataTransfer.items.add(new File([text], name));
    dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
  }, files);
}

/** Empties the page, and sets the time and the pinned key of a case. */
async function prepare({ now, key = '' }: Pick<SessionCase, 'now' | 'key'>): Promise<void> {
  await page.click('#clear');
  await page.evaluate(() => {
    for (const id of ['time-panel', 'key-panel']) document.getElementById(id)?.setAttribute('open', '');
  });
  await page.fill('#as-of', now);
  await page.fill('#pinned-key', key);
}

/** What is shown of so many sessions, once all of them are judged. It is read at once: judging them again hides it. */
async function shownOf(sessions: number) {
  const shown = await page.waitForFunction((wanted) => {
    if (document.querySelectorAll('#result .session .timeline').length < wanted) return null;
    return [...document.querySelectorAll('#result .session')].map((section) => {
      const text = (selector: string): string => section.querySelector(selector)?.textContent ?? '';
      const state = (slot: string): boolean =>
        section.querySelector<HTMLElement>(`[data-slot=${slot}] span`)?.dataset['state'] === 'pass';
      const rows = [...section.querySelectorAll('.timeline > li')];
      return {
        title: text('h2'),
        message: text('[data-slot=message]'),
        valid: section.querySelector<HTMLElement>('.verdict')?.dataset['state'] !== 'fail',
        integrity: state('integrity'),
        trusted: state('trust'),
        listed: [...section.querySelectorAll('.checks .name')].map((name) => name.textContent),
        inPlace: rows.flatMap((row) =>
          [...row.querySelectorAll('.fault strong')].map((name) => name.textContent),
        ),
        numbers: rows.map((row) => row.querySelector('.seq')?.textContent),
        gaps: rows.flatMap((row, at) => (row.classList.contains('gap') ? [at] : [])),
        outcomes: rows.map((row) => row.querySelector('.outcome')?.textContent ?? ''),
        not: [...section.querySelectorAll('[data-slot=not] li')].map((item) => item.textContent),
      };
    });
  }, sessions);
  return (await shown.jsonValue()) ?? [];
}

describe('a session that is dropped', () => {
  test.each(vectors)('$name', async (one) => {
    const { file, referenced = [], expected } = one;
    await prepare(one);
    await drop({
      'session.jsonl': file,
      ...Object.fromEntries(referenced.map((receipt, at) => [`${at}.json`, JSON.stringify(receipt)])),
    });
    await page.waitForFunction(
      (files) => document.querySelectorAll('#session-files li').length === files,
      referenced.length + 1,
    );
    const [shown] = await shownOf(1);
    const faults = expected.faults.map(({ name }) => name);
    const { valid, integrity, trusted } = expected;
    expect(shown).toMatchObject({ valid, integrity, trusted, listed: faults });
    expect(shown?.inPlace.toSorted()).toEqual(faults.toSorted());
    expect(shown?.numbers.filter((number) => number !== '')).toHaveLength(expected.count);
    expect(shown?.message).toContain(`${expected.state}, ${expected.count} receipts`);
  });

  test('draws a gap where the receipts are missing', async () => {
    await prepare(vector('removed'));
    await drop({ 'session.jsonl': vector('removed').file });
    const [shown] = await shownOf(1);
    expect(shown).toMatchObject({
      title: 'Not valid: 1 fault',
      gaps: [2],
      numbers: ['0', '1', '', '3', '4'],
    });
  });

  test('names the line and the number of a fault', async () => {
    await prepare(vector('edited'));
    await drop({ 'session.jsonl': vector('edited').file });
    await shownOf(1);
    expect(await page.textContent('#result .checks .detail')).toContain('(line 4, number 3)');
    expect(await page.textContent('#alert')).toMatch(/^session\.jsonl: Not valid: 1 fault\. /);
  });

  test('says of an open one that its end may be missing, and what an own key is worth', async () => {
    await prepare(vector('open'));
    await drop({ 'session.jsonl': vector('open').file });
    const [shown] = await shownOf(1);
    expect(shown?.not[0]).toBe(
      'The session is open: nobody can see whether receipts after number 3 were cut off.',
    );
    expect(shown?.not[1]).toContain('only where the key is out of the agent’s reach');
  });

  test('is judged by the key that is typed in, and a text that is no key is refused', async () => {
    await prepare(vector('closed-key-not-pinned'));
    await drop({ 'session.jsonl': vector('closed').file });
    expect(await shownOf(1)).toMatchObject([{ title: 'Intact, but not trusted', trusted: false }]);
    await page.fill('#pinned-key', vector('closed').key ?? '');
    await page.press('#pinned-key', 'Tab');
    await page.waitForSelector('#result .verdict[data-state=pass]');
    await page.fill('#pinned-key', 'did:key:z6Mk');
    await page.press('#pinned-key', 'Tab');
    await page.waitForSelector('text=The key can’t be read');
  });

  test('may be pasted, and is forgotten when the page is cleared', async () => {
    const one = vector('closed');
    await prepare(one);
    await page.fill('#receipt', one.file);
    await page.click('#verify');
    expect(await shownOf(1)).toMatchObject([{ title: 'Valid' }]);
    expect(await page.textContent('#session-files')).toBe('pasted: a session');
    await page.click('#clear');
    expect(await page.textContent('#session-files')).toBe('');
    expect(await page.isHidden('#result')).toBe(true);
  });
});

test('a receipt of a session by itself is judged as a receipt', async () => {
  await prepare(vector('closed'));
  await drop({ 'receipt.json': vector('closed').file.split('\n')[1] ?? '' });
  await page.waitForSelector('#result .every');
  expect(await page.textContent('#result h2')).toBe('Intact, but not trusted');
});

describe('sessions that are dropped together', () => {
  const options = recorderOptions();

  /** A session, one begun from it, and one that goes on from it. @param names whether the first names the second */
  async function family(names: boolean): Promise<Record<'parent' | 'child' | 'next', string>> {
    const { recorder, receipt } = await SessionRecorder.open(options);
    const { id, seq, hash } = recorder.head;
    const child = await SessionRecorder.open(options, {
      parent: { id, seq: String(seq), receipt_sha256: hash },
    });
    const named = {
      receipt_id: JSON.parse(child.receipt).receipt_id,
      receipt_sha256: readSessionReceipt(child.receipt).hash,
      child: child.recorder.head.id,
    };
    const step = names ? await recorder.reference(named) : await recorder.tool(toolCall(1));
    const closing = await recorder.close();
    const { count, head } = JSON.parse(closing).call;
    const next = await SessionRecorder.open(options, { continues: { id, count, head } });
    const file = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;
    return { parent: file(receipt, step, closing), child: file(child.receipt), next: file(next.receipt) };
  }

  const relations = () =>
    page.$$eval('#result .related li', (items) =>
      items.map(
        (item) => `${item.querySelector('a')?.textContent} | ${item.querySelector('.detail')?.textContent}`,
      ),
    );

  test('are shown in their relation', async () => {
    const { parent, child, next } = await family(true);
    await prepare({ now: '2026-11-21T00:00:00Z' });
    await drop({ 'next.jsonl': next, 'child.jsonl': child, 'parent.jsonl': parent });
    const shown = await shownOf(3);
    expect(shown.map(({ title }) => title)).toEqual(Array(3).fill('Intact, but not trusted'));
    expect(shown[2]?.outcomes).toEqual(['', 'given and valid', '']);
    expect(await relations()).toEqual([
      'parent.jsonl: Intact, but not trusted | Begun from none of the others',
      'next.jsonl: Intact, but not trusted | Goes on from parent.jsonl',
      'child.jsonl: Intact, but not trusted | Begun from number 0 of parent.jsonl, which names it',
    ]);
  });

  test('are told apart from those that only say so', async () => {
    const { parent, child } = await family(false);
    await prepare({ now: '2026-11-21T00:00:00Z' });
    await drop({ 'parent.jsonl': parent, 'child.jsonl': child });
    await shownOf(2);
    expect((await relations())[1]).toContain('begun from number 0 of parent.jsonl, which does not name it');
    expect(await page.getAttribute('#result .related li li', 'data-state')).toBe('fail');
  });
});

test('many receipts are folded, and drawn when unfolded; a fold with a fault is open', async () => {
  const lines = await closedSession(598);
  await prepare({ now: '2026-11-21T00:00:00Z' });
  await drop({ 'session.jsonl': `${lines.toSpliced(350, 1).join('\n')}\n` });
  await page.waitForSelector('#result .fold');
  const drawn = () =>
    page.$$eval('.fold', (folds) => folds.map((fold) => fold.querySelectorAll('ol > li').length));
  expect(await drawn()).toEqual([100, 0, 0, 100, 0, 0]);
  expect(await page.$$eval('.fold > summary', (all) => all.map(({ textContent }) => textContent))).toEqual([
    'Numbers 0 to 99',
    'Numbers 100 to 199',
    'Numbers 200 to 299',
    'Numbers 300 to 399, with faults: 1',
    'Numbers 400 to 499',
    'Numbers 500 to 599',
  ]);
  await page.locator('.fold > summary').nth(1).click();
  await page.waitForFunction(() => document.querySelectorAll('.fold')[1]?.querySelector('ol') !== null);
  expect(await drawn()).toEqual([100, 100, 0, 100, 0, 0]);
});

test('names that were made to deceive are shown for what they are', async () => {
  const { recorder, receipt } = await SessionRecorder.open(recorderOptions());
  const tool = '<img src=x onerror="window.injected = true">\u202eelif';
  const call = await recorder.tool({ ...toolCall(1), tool });
  await prepare({ now: '2026-11-21T00:00:00Z' });
  await drop({ 'session.jsonl': `${receipt}\n${call}\n` });
  await shownOf(1);
  expect(await page.textContent('#result .timeline strong')).toContain('U+202E');
  expect(await page.evaluate(() => 'injected' in window)).toBe(false);
});

test(`of ${SESSIONS} random sessions with one change, the page finds and names each`, async () => {
  // The second script is run by the first session.
  await prepare(vector('closed'));
  await drop({ 'session.jsonl': vector('closed').file });
  await shownOf(1);
  const seed = Date.now() % 2 ** 31;
  const BATCH = 200;
  const missed: object[] = [];
  let batch: TamperedSession[] = [];
  const judge = async (): Promise<void> => {
    const found = await page.evaluate(
      (files) => {
        const { verifySession } = (window as unknown as { tallystickLater: Later }).tallystickLater;
        return Promise.all(
          files.map(async (file) => {
            const { valid, faults } = await verifySession(file, { now: Date.UTC(2026, 10, 21) });
            return { valid, names: faults.map(({ name }) => name as string) };
          }),
        );
      },
      batch.map(({ file }) => file),
    );
    for (const [at, { fault, change }] of batch.entries()) {
      const { valid = false, names = [] } = found[at] ?? {};
      const isFound = fault === null ? valid && names.length === 0 : !valid && names.includes(fault);
      if (!isFound) missed.push({ change, fault, valid, names });
    }
    batch = [];
  };
  for await (const session of tamperedSessions(SESSIONS, seed)) {
    batch.push(session);
    if (batch.length === BATCH) await judge();
  }
  await judge();
  expect(missed, `seed ${seed}`).toEqual([]);
}, 600_000);

test('nothing was asked of anybody, and nothing was complained of', () => {
  expect(opened.requests.filter((url) => !url.startsWith('data:'))).toEqual([address]);
  expect(opened.complaints).toEqual([]);
});
