import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { utf8 } from '../src/encoding/bytes.ts';
import type * as core from '../src/index.ts';
import { openSeal, type SealedDocument, type SealReference, seal, sealReference } from '../src/seal.ts';
import { bundleFor, expectNoBuiltins, insecureHost, openChromium, type ScriptedBrowser } from './chromium.ts';
import { verdictCases } from './ed25519-cases.ts';
import { haveSharedVectors, jcsPairs, wycheproofEd25519 } from './shared-vectors.ts';

declare global {
  interface Window {
    readonly tallystick: typeof core;
  }
}

const engines = ['defaultEngine', 'nobleEngine', 'webCryptoEngine'] as const;

const bundle = await bundleFor(new URL('../src/index.ts', import.meta.url), 'tallystick');

test('nothing that core imports is a Node builtin', () => {
  expect(bundle.imports.length).toBeGreaterThan(20);
  expectNoBuiltins(bundle);
});

describe('core in Chromium', () => {
  let chromium: ScriptedBrowser;
  let page: Page;
  let insecurePage: Page;

  beforeAll(async () => {
    chromium = await openChromium(bundle);
    const { browser, port } = chromium;
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    insecurePage = await browser.newPage();
    await insecurePage.goto(`http://${insecureHost}:${port}/`);
  });

  afterAll(() => chromium.close());

  test('has WebCrypto, without which its engine would not be tried', async () => {
    expect(await page.evaluate(() => window.isSecureContext && 'subtle' in crypto)).toBe(true);
  });

  describe.each(engines)('%s', (engine) => {
    test('gives the verdicts of Node on the Ed25519 table', async () => {
      const expected = verdictCases.map(({ name, valid }) => [name, valid]);
      expect(await verdicts(page, engine, verdictCases)).toEqual(expected);
    });

    test.skipIf(!haveSharedVectors)('agrees with every Wycheproof case (needs ../shared)', async () => {
      const cases = wycheproofEd25519();
      const expected = cases.map(({ name, result }) => [name, result === 'valid']);
      expect(await verdicts(page, engine, cases)).toEqual(expected);
    });
  });

  test.skipIf(!haveSharedVectors)(
    'canonicalises the RFC 8785 files as Node does (needs ../shared)',
    async () => {
      const pairs = jcsPairs();
      const outputs = await page.evaluate(
        (inputs) => {
          const { canonicalize, parseJson, utf8 } = window.tallystick;
          return inputs.map((input) => canonicalize(parseJson(utf8(input))));
        },
        pairs.map(({ input }) => input),
      );
      expect(outputs).toEqual(pairs.map(({ output }) => output));
    },
  );

  describe.each([
    ['with WebCrypto', true],
    ['without WebCrypto, on an insecure origin', false],
  ])('sealing %s', (_, secure) => {
    const key = new Uint8Array(32).fill(0x4b);
    const text = 'unit 7: 42.5 kg';
    const sealingPage = () => (secure ? page : insecurePage);

    test('runs where WebCrypto is as its name says', async () => {
      const found = await sealingPage().evaluate(() => [window.isSecureContext, 'subtle' in crypto]);
      expect(found).toEqual([secure, secure]);
    });

    test('is read by Node, and reads what Node wrote', async () => {
      const sealed = await sealingPage().evaluate(
        ([text, key]) => window.tallystick.seal(window.tallystick.utf8(text), new Uint8Array(key)),
        [text, [...key]] as const,
      );
      expect(await openSeal(sealed, key, sealReference(sealed))).toEqual(utf8(text));
      expect(await opened(sealingPage(), sealed, key)).toEqual([text, text]);
      expect(await opened(sealingPage(), await seal(utf8(text), key), key)).toEqual([text, text]);
    });

    test('tells a changed document from a wrong key', async () => {
      const sealed = await seal(utf8(text), key);
      const other = await seal(utf8(text), key);
      const changed = { ...sealed, ciphertext: other.ciphertext };
      const reference = sealReference(sealed);
      const tampered = ['seal_tampered', 'seal_tampered'];
      expect(await opened(sealingPage(), changed, key, reference)).toEqual(tampered);
      expect(await opened(sealingPage(), { ...sealed, nonce: other.nonce }, key)).toEqual(tampered);
      const wrongKey = key.with(31, 0);
      expect(await opened(sealingPage(), sealed, wrongKey)).toEqual(['seal_wrong_key', 'seal_wrong_key']);
    });
  });
});

interface SignatureCase {
  readonly name: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

async function verdicts(
  page: Page,
  engine: (typeof engines)[number],
  cases: readonly SignatureCase[],
): Promise<[string, boolean][]> {
  return page.evaluate(
    async ([engine, cases]) => {
      const { fromHex, verifyEd25519, [engine]: chosen } = window.tallystick;
      const verify = async ({ name, publicKey, message, signature }: SignatureCase) => {
        const bytes = [fromHex(publicKey), fromHex(message), fromHex(signature)] as const;
        return [name, await verifyEd25519<boolean | Promise<boolean>>(chosen, ...bytes)] as [string, boolean];
      };
      return Promise.all(cases.map(verify));
    },
    [engine, cases] as const,
  );
}

/** What the page reads, or the code of its refusal: without a reference, and with one. */
async function opened(
  page: Page,
  sealed: SealedDocument,
  key: Uint8Array,
  reference: SealReference = sealReference(sealed),
): Promise<string[]> {
  return page.evaluate(
    async ([sealed, key, reference]) => {
      const { openSeal, TallyError } = window.tallystick;
      const outcome = async (expected?: SealReference) => {
        try {
          return new TextDecoder().decode(await openSeal(sealed, new Uint8Array(key), expected));
        } catch (error) {
          return error instanceof TallyError ? error.code : String(error);
        }
      };
      return [await outcome(), await outcome(reference)];
    },
    [sealed, [...key], reference] as const,
  );
}
