import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  cosignCheckpoint,
  noteKeyHash,
  type Witnessed,
  withSignature,
  witnessedText,
  witnessKey,
} from '@tallystick/core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtPage } from '../packages/web/scripts/page.ts';
import { expectAccessible } from '../packages/web/test/axe.ts';
import { addBundle, launch, type Opened, open, openAt, readShown } from '../packages/web/test/browser.ts';
import { mlDsaWitness } from '../scripts/vectors/ml-dsa-cosignatures.ts';
import { createKey, getJson, until } from './log-client.ts';
import { post, serve, tally, temporaryFolder } from './process.ts';

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const policy = at('data/witness-policy.txt');
const env = { TALLY_DATA_DIR: at('data'), TALLY_ANCHOR_PERIOD_SECONDS: '1' };
const home = { TALLY_HOME: at('home') };
let browser: Browser;

/** A witness's key (C2SP tlog-cosignature) that nobody has. */
function strangerKey(): string {
  const publicKey = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
  const hash = noteKeyHash('stranger', 4, publicKey).toString(16).padStart(8, '0');
  return `stranger+${hash}+${Buffer.concat([Buffer.of(4), publicKey]).toString('base64')}`;
}

function changedPolicy(name: string, change: (text: string) => string): string {
  writeFileSync(at(name), change(readFileSync(policy, 'utf8')));
  return at(name);
}
const withoutQuorum = (): string =>
  changedPolicy('stranger.txt', (text) => text.replace(/^(witness \S+) \S+$/m, `$1 ${strangerKey()}`));
const unreadable = (): string => changedPolicy('twice.txt', (text) => `${text}quorum none\n`);
const FAULT = 'Line 8: There is more than one quorum line.';

/** What the command line says of witnesses, as text. */
async function saidOfWitnesses(args: readonly string[]): Promise<Witnessed> {
  const { stdout } = await tally([...args, '--json'], home);
  return JSON.parse(stdout).witnessed;
}

/** A receipt with its anchor, and a tenant's bundle, all cosigned by the two witnesses of a development service. */
beforeAll(async () => {
  browser = await launch();
  const served = await serve(env);
  const { url } = served;
  const key = await createKey('pro', env);
  const emitted = await post(`${url}/v1/receipt/emit`, { input: 'hello', anchor: true }, key);
  writeFileSync(at('receipt.json'), emitted.text);
  const { receipt } = JSON.parse(emitted.text);
  const { anchor } = await until(
    () => getJson(`${url}/v1/receipt/${receipt.id}`),
    (read) => JSON.stringify(read).includes('local-witness-2'),
  );
  writeFileSync(at('anchor.json'), JSON.stringify(anchor));
  await tally(['trust', 'fetch', url, '--out', at('trust.json')], home);

  const tenant = (await tally(['tenant', 'create'], env)).stdout.trim();
  const secret = (await tally(['tenant', 'key', tenant], env)).stdout.trim();
  const headers = { authorization: `Bearer ${secret}` };
  for (const input of ['one', 'two']) await post(`${url}/tenants/${tenant}/receipts`, { input }, headers);
  await until(
    async () => {
      const answer = await fetch(`${url}/tenants/${tenant}/evidence`, { headers });
      writeFileSync(at('bundle.zip'), Buffer.from(await answer.arrayBuffer()));
      return saidOfWitnesses(['evidence', 'verify', at('bundle.zip'), '--witness-policy', policy]);
    },
    (witnessed) => witnessed.satisfied,
  );
  await served.kill('SIGTERM');
});
afterAll(() => browser.close());

const addressOf = (name: 'verify' | 'evidence'): string => pathToFileURL(builtPage(name).pathname).href;

async function openPanel(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const panel of document.querySelectorAll('details')) panel.open = true;
  });
}

describe('the page that verifies a receipt', () => {
  /** Opened offline, with the service's trust bundle and the receipt; nothing is verified yet. */
  async function opened(width = 1440, using = browser): Promise<Opened> {
    const viewport = { width, height: 900 };
    const given = await open(using, addressOf('verify'), {
      offline: true,
      viewport,
      reducedMotion: 'reduce',
    });
    const { page } = given;
    await openPanel(page);
    await addBundle(page, readFileSync(at('trust.json'), 'utf8'));
    await page.waitForSelector('text=Version 1');
    await page.fill('#receipt', readFileSync(at('receipt.json'), 'utf8'));
    await page.setInputFiles('#anchor-file', at('anchor.json'));
    return given;
  }

  const shown = async (page: Page) => {
    const text = (selector: string): Promise<string> => page.innerText(`#result ${selector}`);
    const line = page.locator('#result .pair > div').nth(2);
    return {
      title: await text('h2'),
      message: await text('[data-slot=message]'),
      state: await page.getAttribute('#result .verdict', 'data-state'),
      line: (await line.count()) === 0 ? null : await line.innerText(),
    };
  };
  /** Presses “Verify” and waits for the expected verdict: the page shows an earlier one until the next is there. */
  const expectVerified = async (
    page: Page,
    expected: Partial<Awaited<ReturnType<typeof shown>>>,
  ): Promise<void> => {
    await page.click('#verify');
    await page.waitForSelector('#result h2');
    await expect.poll(() => shown(page)).toMatchObject(expected);
  };

  test.each([320, 1440])('at %i px, says who witnessed it, and asks for nothing', async (width) => {
    const { page, context, requests, complaints } = await opened(width);
    await expectVerified(page, { line: null });
    await page.setInputFiles('#policy-file', policy);
    const args = ['verify', at('receipt.json'), '--anchor', at('anchor.json'), '--witness-policy', policy];
    const said = witnessedText(await saidOfWitnesses(args));
    expect(said).toBe('2 of 2 witnesses (local-witness-1, local-witness-2); enough, at least 2 required');
    await expectVerified(page, {
      title: 'Valid, from an issuer you trust',
      state: 'pass',
      line: `Witnessed\n${said}`,
    });
    const { checks } = (await page.evaluate(readShown)) as Extract<
      ReturnType<typeof readShown>,
      { checks: unknown }
    >;
    expect(checks).toContainEqual({ name: 'witnessed', ok: true });
    expect(await page.innerText('#result .proof')).toContain('2 of the 2 witnesses of the policy cosigned');
    await expectAccessible(page, width);
    expect(requests.filter((address) => address !== addressOf('verify'))).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test.each([
    ['by the library', [], 0],
    ['by WebCrypto where it has that', ['WebCryptoPQC'], 2],
  ] as const)(
    'checks a cosignature by ML-DSA-44 %s, and counts a changed one against the checkpoint',
    async (_how, features, byWebCrypto) => {
      const own = await launch(...features);
      const { page } = await opened(1440, own);
      await page.evaluate(() => {
        const { subtle } = crypto;
        const verify = subtle.verify.bind(subtle);
        subtle.verify = (algorithm, ...rest) => {
          if (algorithm === 'ML-DSA-44')
            document.body.dataset['checked'] = `${document.body.dataset['checked'] ?? ''}+`;
          return verify(algorithm, ...rest);
        };
      });
      const q = mlDsaWitness('q.example', 'the page');
      const { checkpoint, ...rest } = JSON.parse(readFileSync(at('anchor.json'), 'utf8'));
      const line = await cosignCheckpoint(checkpoint, q, 1_700_000_000);
      const given = (note: string): Promise<void> =>
        page.fill('#anchor', JSON.stringify({ ...rest, checkpoint: note }));
      const requiring = changedPolicy('ml-dsa.txt', (text) =>
        text.replace(
          /^group local all (.*)$/m,
          `witness q ${witnessKey(q.name, q.signer.publicKey)}\ngroup local all $1 q`,
        ),
      );
      await page.setInputFiles('#policy-file', requiring);
      await expectVerified(page, {
        state: 'unsure',
        line: 'Witnessed\n2 of 3 witnesses (local-witness-1, local-witness-2); not enough, at least 3 required',
      });
      await given(withSignature(checkpoint, line));
      await expectVerified(page, {
        state: 'pass',
        line: 'Witnessed\n3 of 3 witnesses (local-witness-1, local-witness-2, q); enough, at least 3 required',
      });
      const place = line.length - 200;
      const changed = `${line.slice(0, place)}${line[place] === 'A' ? 'B' : 'A'}${line.slice(place + 1)}`;
      await given(withSignature(checkpoint, changed));
      await expectVerified(page, {
        state: 'unsure',
        line: 'Witnessed\n0 of 3 witnesses; not enough, at least 3 required',
      });
      expect(await page.evaluate(() => document.body.dataset['checked'] ?? '')).toHaveLength(byWebCrypto);
      await own.close();
    },
  );

  test('says that a quorum is missing, with an anchor and without', async () => {
    const { page, context } = await opened();
    await page.setInputFiles('#policy-file', withoutQuorum());
    const missing = '1 of 2 witnesses (local-witness-2); not enough, at least 2 required';
    await expectVerified(page, {
      title: 'Valid, but not witnessed',
      message: `${missing}.`,
      state: 'unsure',
      line: `Witnessed\n${missing}`,
    });
    expect(await page.innerText('#announcement')).toContain('Valid, but not witnessed');
    await page.fill('#anchor', '');
    await page.setInputFiles('#policy-file', policy);
    await expectVerified(page, {
      state: 'unsure',
      line: 'Witnessed\n0 of 2 witnesses; not enough, at least 2 required',
    });
    await context.close();
  });

  test('says in place what is wrong with a policy, and judges nothing by it', async () => {
    const { page, context } = await opened();
    await page.setInputFiles('#policy-file', unreadable());
    await page.waitForSelector('#result h2');
    expect(await page.innerText('#policy-source .refusal')).toBe(FAULT);
    await expect
      .poll(() => page.evaluate(readShown))
      .toEqual({
        code: 'witness_policy_invalid',
        title: 'The witness policy can’t be read',
      });
    await page.click('#clear');
    expect(await page.inputValue('#policy')).toBe('');
    expect(await page.locator('#policy-source *').count()).toBe(0);
    // Also where there is no receipt yet.
    await page.fill('#policy', 'witness a');
    expect(await page.innerText('#policy-source .refusal')).toMatch(/^Line 1: /);
    await context.close();
  });

  test('takes a policy that is dropped, and keeps none', async () => {
    const { page, context } = await opened();
    await drop(page, readFileSync(policy, 'utf8'));
    await page.waitForSelector('#result h2');
    await expect.poll(() => page.locator('#result .pair > div').count()).toBe(3);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('local-witness');
    await page.reload();
    expect(await page.inputValue('#policy')).toBe('');
    await context.close();
  });
});

async function drop(page: Page, text: string): Promise<void> {
  await page.evaluate((contents) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([contents], 'witness-policy.txt'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, text);
}

describe('the page that verifies a bundle', () => {
  test('judges the witnesses of all its anchors, by the policy that is there now', async () => {
    const { page, context, requests, complaints } = await openAt(browser, addressOf('evidence'), {
      offline: true,
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
    });
    const verdict = (state: string): Promise<unknown> =>
      page.waitForSelector(`#result .verdict[data-state=${state}]`);
    await page.setInputFiles('#bundle-file', at('bundle.zip'));
    await verdict('unsure');
    expect(await page.innerText('#result')).not.toContain('Witnessed');
    await page.fill('#root', await page.innerText('#result [data-slot=root]'));
    await page.locator('#root').blur();
    await verdict('pass');

    await openPanel(page);
    await page.setInputFiles('#policy-file', withoutQuorum());
    await verdict('unsure');
    expect(await page.innerText('#result h2')).toBe('Intact, but not witnessed');
    const missing = '1 of 2 witnesses (local-witness-2); not enough, at least 2 required';
    const command = ['evidence', 'verify', at('bundle.zip'), '--witness-policy', withoutQuorum()];
    expect((await tally(command, home)).code).toBe(3);
    expect(await page.innerText('#result')).toMatch(/(\d+) of \1 anchored receipts are not/);
    expect(await page.innerText('#result')).toContain(missing);

    await page.fill('#policy', readFileSync(unreadable(), 'utf8'));
    expect(await page.innerText('#policy-source .refusal')).toBe(FAULT);
    expect(await page.innerText('#result')).toBe('');

    await drop(page, readFileSync(policy, 'utf8'));
    await verdict('pass');
    expect(await page.innerText('#result')).toContain(
      'Each anchored receipt: 2 of 2 witnesses (local-witness-1, local-witness-2); enough, at least 2 required',
    );
    await expectAccessible(page, 1440);
    expect(requests.filter((address) => address !== addressOf('evidence'))).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
