import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IMPATIENT, payloadsOf, type Routed, startRouted, svcIn } from './compute.ts';
import { everyProvider, MODELS_BY_PROVIDER, PROVIDER_KEYS } from './every-provider.ts';
import { withModels } from './models.ts';
import { objectsIn, SPOKEN, spokenHash } from './spoken.ts';
import { defaultPieces } from './upstream-script.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-provider-faults-'));
afterAll(() => rmSync(folder, { recursive: true }));

let routed: Routed;
async function open(): Promise<void> {
  const file = join(folder, 'catalogue.json');
  routed = await startRouted({
    env: (url) => {
      writeFileSync(file, JSON.stringify(withModels(everyProvider(url))));
      return { ...IMPATIENT, ...PROVIDER_KEYS, TALLY_CONFIG: file };
    },
  });
}

const owed = async (): Promise<bigint> => -(await routed.balance('development')).balance;
const models = Object.entries(MODELS_BY_PROVIDER);

const FAILURES = [
  { fault: { kind: 'status', status: 429, retryAfter: '3600' }, status: 429, code: 'provider_rate_limited' },
  { fault: { kind: 'garbage', after: 0 }, status: 502, code: 'provider_failed' },
  { fault: { kind: 'silence' }, status: 504, code: 'provider_timeout' },
] as const;

const BEFORE = FAILURES.flatMap((row) => [false, true].map((stream) => ({ ...row, stream })));

const WITHIN = [
  { kind: 'cut', code: 'provider_failed' },
  { kind: 'short', code: 'provider_failed' },
  { kind: 'stall', code: 'provider_timeout' },
  { kind: 'garbage', code: 'provider_failed' },
  { kind: 'error_event', code: 'provider_failed' },
] as const;

/** Events of a stream that are sent whole: enough for a piece of text, and not for all. */
const AFTER = 6;

/** A failure can make a model rest at its service, so each service is asked once for each model. */
describe.each(SPOKEN.map((spoken) => [spoken.name, spoken] as const))('%s', (_, spoken) => {
  describe.each(BEFORE)(
    '$fault.kind: $status $code in its own form, and nobody pays (stream: $stream)',
    (row) => {
      beforeAll(open);
      afterAll(() => routed.close());

      it.each(models)('at %s', async (_provider, model) => {
        routed.upstream.always({ fault: row.fault });
        const response = await routed.post(spoken.path, { model, ...spoken.request, stream: row.stream });
        const text = await response.text();
        expect(response.status, text).toBe(row.status);
        expect(JSON.parse(text)).toMatchObject({ code: row.code, ...spoken.refusedBy(row.code) });
        expect(response.headers.get('retry-after')).toBe(row.status === 429 ? '3600' : null);
        expect(await owed()).toBe(0n);
        await routed.expectBalanced();
      });
    },
  );

  describe.each(WITHIN)('$kind within a stream is told, and what came is billed and receipted', (row) => {
    beforeAll(open);
    afterAll(() => routed.close());

    it.each(models)('at %s', async (_provider, model) => {
      const before = await owed();
      routed.upstream.play({ fault: { kind: row.kind, after: AFTER } });
      const response = await routed.post(spoken.path, { model, ...spoken.request, stream: true });
      const payloads = payloadsOf(await response.text());
      const end = spoken.brokenBy(row.code);
      expect(objectsIn(payloads.slice(-end.length))).toMatchObject(end);
      const said = spoken.textOf(payloads);
      expect(defaultPieces.slice(1).map((_, count) => defaultPieces.slice(0, count + 1).join(''))).toContain(
        said,
      );
      const svc = svcIn(payloads);
      expect(svc?.receipt).toMatchObject({
        receipt_id: response.headers.get('x-receipt-id'),
        call: { complete: false, usage_estimated: true },
        response: { hash: spokenHash(spoken, payloads) },
      });
      expect(await owed()).toBe(before + BigInt(svc?.billing.charge.nano ?? 0));
      await routed.expectBalanced();
    });
  });
});
