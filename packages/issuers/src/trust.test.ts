import {
  checkTrustBundle,
  rootFingerprint,
  signTrustBundle,
  type TrustPin,
  trustOf,
  verify,
} from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
import {
  DATABASES,
  expectProblem,
  startTestService,
  type TestService,
  testClock,
} from '../../server/test/service.ts';
import { createKeyring, type Keyring, revokeKey, rotateKey, signerFor } from './keyring.ts';
import { writeKeyring } from './keyring-file.ts';
import { BUNDLE_DAYS, publishTrust, refreshTrust, trustDraft } from './trust-bundle.ts';

const TRUST = '/.well-known/trust.json';
const DAY = 86_400_000;

let service: TestService;
afterEach(() => service.close());

/** What the upkeep of a running service does about a keyring that was changed on disk. */
async function takeUp(keyring: Keyring): Promise<void> {
  const { store, issuer, trust } = service.services;
  writeKeyring(service.config.keyring.path, keyring, null);
  expect(await (issuer as typeof issuer & { refresh(): Promise<boolean> }).refresh()).toBe(true);
  await refreshTrust(store, issuer.keyring, service.clock());
  await trust.refresh();
}

async function fetchTrust(pin?: TrustPin) {
  const { json, status } = await service.get(TRUST);
  expect(status).toBe(200);
  return checkTrustBundle(json, { now: service.clock(), pin });
}

const emit = async () => (await service.post('/v1/receipt/emit', { input: 'x' })).text;
const verdict = async (receipt: string) => (await service.post('/v1/receipt/verify', receipt)).json;

/** The store, in which another process publishes a bundle as soon as this one has read the newest. */
function overtaken(keyring: Keyring): TestService['services']['store'] {
  const { store } = service.services;
  let isOvertaken = false;
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'getDocument' || isOvertaken) return member.bind(target);
      return async (...given: readonly unknown[]) => {
        isOvertaken = true;
        const found: unknown = await member.apply(target, given);
        await refreshTrust(store, keyring, service.clock());
        return found;
      };
    },
  });
}

describe.each(DATABASES)('keys and trust on %s', (database) => {
  it('of two processes that publish at once, none repeats the other’s bundle or leaves out its own keys', async () => {
    service = await startTestService({ database });
    const { issuer, trust } = service.services;
    const newest = async () => {
      await trust.refresh();
      const { bundle, pin } = await fetchTrust();
      return { version: pin.version, keys: bundle.issuers[0]?.keys.map(({ key_id }) => key_id) };
    };
    const first = await rotateKey(issuer.keyring, 'receipt', service.clock());
    await refreshTrust(overtaken(first), first, service.clock());
    expect(await newest()).toMatchObject({ version: 2 });
    const second = await rotateKey(first, 'status', service.clock());
    await refreshTrust(overtaken(first), second, service.clock());
    const third = await rotateKey(second, 'status', service.clock());
    const fourth = await rotateKey(third, 'benchmark', service.clock());
    await refreshTrust(overtaken(third), fourth, service.clock());
    expect(await newest()).toEqual({
      version: 5,
      keys: expect.arrayContaining([signerFor(fourth, 'benchmark').keyId]) as string[],
    });
  });

  it('a rotation reaches the signer, the record and the bundle; what was signed before stays trusted', async () => {
    service = await startTestService({ database });
    const before = await emit();
    const first = await fetchTrust();
    const { keyring } = service.services.issuer;
    const fingerprint = rootFingerprint(signerFor(keyring, 'root').publicKey);
    expect((await service.get(TRUST)).headers.get('x-root-fingerprint')).toBe(fingerprint);
    expect(first.pin).toMatchObject({ root: fingerprint, version: 1 });

    service.clock.advance(60_000);
    await takeUp(await rotateKey(keyring, 'receipt', service.clock()));
    const after = await emit();
    const keyOf = (receipt: string) => (JSON.parse(receipt) as { key_id: string }).key_id;
    expect(keyOf(after)).not.toBe(keyOf(before));
    const second = await fetchTrust(first.pin);
    expect(second.bundle.version).toBe(2);
    await service.restart();
    expect((await fetchTrust(second.pin)).bundle.version).toBe(2);
    for (const receipt of [before, after]) {
      expect(await verdict(receipt)).toMatchObject({ valid: true, issuer: { trusted: true } });
      const offline = { now: service.clock(), trust: trustOf(second.bundle.issuers) };
      expect(await verify(JSON.parse(receipt), offline)).toMatchObject({
        valid: true,
        issuer: { trusted: true },
      });
    }
    await expect(
      checkTrustBundle(first.bundle, { now: service.clock(), pin: second.pin }),
    ).rejects.toMatchObject({ code: 'trust_rollback' });
  });

  it('a compromise takes trust from all that the key signed, and says why', async () => {
    service = await startTestService({ database });
    const before = await emit();
    const { pin } = await fetchTrust();
    const { keyring } = service.services.issuer;
    service.clock.advance(60_000);
    const at = service.clock();
    await takeUp(await revokeKey(keyring, signerFor(keyring, 'receipt').keyId, 'compromised', at, at));
    expect((await fetchTrust(pin)).bundle.version).toBe(2);
    expect(await verdict(before)).toMatchObject({
      valid: true,
      issuer: { trusted: false, key_state: 'compromised' },
    });
    expect(await verdict(await emit())).toMatchObject({ valid: true, issuer: { trusted: true } });
    const { json } = await service.get('/.well-known/did.json');
    expect(json.verificationMethod).toHaveLength(1);
  });

  it('a bundle is renewed when half its life is over, not before', async () => {
    service = await startTestService({ database });
    const { pin } = await fetchTrust();
    service.clock.advance((BUNDLE_DAYS / 2 - 1) * DAY);
    await service.restart();
    expect((await fetchTrust(pin)).bundle.version).toBe(1);
    service.clock.advance(2 * DAY);
    await service.restart();
    expect((await fetchTrust(pin)).bundle).toMatchObject({ version: 2 });
  });
});

describe('a root that is kept offline', () => {
  it('trust is unavailable until a bundle is published; receipts are issued meanwhile', async () => {
    const clock = testClock();
    const whole = await createKeyring('local', clock());
    const online = { ...whole, keys: whole.keys.filter(({ purpose }) => purpose !== 'root') };
    service = await startTestService({
      clock,
      prepare: ({ keyring }) => writeKeyring(keyring.path, online, null),
    });
    expectProblem(await service.get(TRUST), 'trust_unavailable');
    const ready = await service.get('/readyz');
    expect(ready).toMatchObject({ status: 503, json: { status: 'unavailable' } });
    expect((ready.json.checks as Record<string, string>).trust).toContain('tally trust');
    const receipt = await emit();

    const { store, issuer, trust } = service.services;
    const draft = await trustDraft(store, issuer.keyring, service.clock());
    const facts = { ...draft, issuedAt: service.clock(), expiresAt: service.clock() + DAY };
    const { bundle } = await checkTrustBundle(
      JSON.parse(await signTrustBundle(facts, signerFor(whole, 'root'))),
      { now: service.clock() },
    );
    await publishTrust(store, bundle);
    await expect(publishTrust(store, bundle)).rejects.toMatchObject({ code: 'trust_rollback' });
    await trust.refresh();
    expect((await fetchTrust()).pin.root).toBe(rootFingerprint(signerFor(whole, 'root').publicKey));
    expect((await service.get('/readyz')).status).toBe(200);
    expect(await verdict(receipt)).toMatchObject({ issuer: { trusted: true } });
  });
});
