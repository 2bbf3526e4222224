import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Served, serve, tally, temporaryFolder } from '../../../e2e/process.ts';
import {
  bundleFor,
  expectNoBuiltins,
  insecureHost,
  openChromium,
  type ScriptedBrowser,
} from '../../core/test/chromium.ts';
import type * as sdk from '../src/index.ts';

declare global {
  interface Window {
    readonly tallystickSdk: typeof sdk;
  }
}

const bundle = await bundleFor(new URL('../src/index.ts', import.meta.url), 'tallystickSdk');

test('nothing in the bundle is a Node builtin, and only core, noble and cborg are beside the SDK', () => {
  expect(bundle.imports.length).toBeGreaterThan(40);
  expectNoBuiltins(bundle);
  const foreign = bundle.sources.filter(
    (path) => !/^packages\/(?:sdk|core)\/src\/|\/(?:@noble|cborg)\//.test(path),
  );
  expect(foreign).toEqual([]);
});

describe('the SDK in Chromium, on another origin than the service', () => {
  let service: Served;
  let apiKey: string;
  let chromium: ScriptedBrowser;

  beforeAll(async () => {
    chromium = await openChromium(bundle);
    const TALLY_DATA_DIR = temporaryFolder();
    service = await serve({ TALLY_DATA_DIR, TALLY_ANCHOR_PERIOD_SECONDS: '2' });
    apiKey = (await tally(['apikey', 'create', '--tier', 'pro'], { TALLY_DATA_DIR })).stdout.trim();
  });

  afterAll(() => chromium.close());

  describe.each(['127.0.0.1', insecureHost])('from http://%s', (host) => {
    let page: Page;
    let baseUrl: string;
    beforeAll(async () => {
      // Chromium takes plain HTTP for secure on loopback addresses only; a page elsewhere must not ask loopback.
      baseUrl = service.url.replace('127.0.0.1', host);
      page = await chromium.browser.newPage();
      await page.goto(`http://${host}:${chromium.port}/`);
    });

    test('mints, verifies here and there, and sees a change', async () => {
      const seen = await page.evaluate(async (url) => {
        const { createClient, verifyReceipt } = window.tallystickSdk;
        const client = createClient({ baseUrl: url, agentDid: 'did:web:agent.example' });
        const trust = await client.fetchTrust();
        const { receipt, text } = await client.mintFree({ input: 'from a page', purpose: 'test' });
        const here = await verifyReceipt(text, { trust });
        const there = await client.verify(text);
        const changed = await verifyReceipt(
          { ...receipt, receipt_id: 'r_env_1700000000_000000000000' },
          { trust },
        );
        return {
          origin: receipt.request.origin,
          here: [here.valid, here.issuer.trusted],
          there: [there.valid, there.issuer.trusted],
          changed: changed.valid,
        };
      }, baseUrl);
      expect(seen).toEqual({
        origin: 'did:web:agent.example',
        here: [true, true],
        there: [true, true],
        changed: false,
      });
    });

    test('anchors with a key, and checks the proof here', async () => {
      const seen = await page.evaluate(
        async ([url, key]) => {
          const { createClient, verifyReceipt } = window.tallystickSdk;
          const client = createClient({ baseUrl: url, apiKey: key });
          const { text } = await client.emit({ profile: 'nano', input: 'from a page', anchor: true });
          const anchor = await client.waitForAnchor(text);
          const { checks } = await verifyReceipt(text, { trust: await client.fetchTrust(), anchor });
          return checks.filter(({ name }) => name.startsWith('anchor')).map(({ ok }) => ok);
        },
        [baseUrl, apiKey] as const,
      );
      expect(seen).toEqual([true, true, null]);
    });

    test('reads problems and issues receipts of its own', async () => {
      const seen = await page.evaluate(async (url) => {
        const { createClient, generateSecretKey, ServiceError, verifyReceipt } = window.tallystickSdk;
        const client = createClient({ baseUrl: url });
        const error = await client.mintFree({ input: '', purpose: 'p' }).catch((reason: unknown) => reason);
        const params = {
          symbol: 'USDC',
          units: 1,
          amountUsd: 1,
          recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
          issuerSk: generateSecretKey(),
        };
        const { valid } = await verifyReceipt((await client.issue(params)).text);
        if (!(error instanceof ServiceError)) return { valid };
        return { valid, code: error.code, field: error.field, traced: error.requestId !== null };
      }, baseUrl);
      expect(seen).toEqual({ valid: true, code: 'empty_input', field: 'input', traced: true });
    });

    test('sends evidence from an async iterable, though it cannot stream a request', async () => {
      const backed = await page.evaluate(async (url) => {
        const { commitBill, createClient } = window.tallystickSdk;
        const commitments = commitBill({ machine: 'm', customer: 'c', rate: 'r' });
        const evidence = async function* () {
          for (let unit = 1; unit <= 300; unit++) {
            yield { unit, receipt_sha256: unit.toString(16).padStart(64, '0') };
          }
        };
        const { receipt } = await createClient({ baseUrl: url }).meter({
          ...commitments,
          windowStart: new Date(Date.now() - 7_200_000),
          windowEnd: new Date(Date.now() - 3_600_000),
          serviceUnit: 'pick',
          billedUnitCount: 300,
          evidence: evidence(),
          rate: { unitRateMinor: 1, currency: 'EUR', rateCommitment: commitments.rateCommitment },
        });
        return receipt.signed_body.metered.evidence_backed_unit_count;
      }, baseUrl);
      expect(backed).toBe(300);
    });
  });
});
