import { createSigner, generateSecretKey } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { PRO, useKeySales } from './key-sales.ts';
import { expectProblem } from './service.ts';
import { quote, watch } from './treasury.ts';

const sales = useKeySales();
const { start, settled, orders, deliver } = sales;

const NO_MAIL = { env: { TALLY_SMTP_URL: '', TALLY_SMTP_FROM: '' } };
const newDid = async (): Promise<string> => (await createSigner(generateSecretKey())).keyId;

const refundReasons = async (): Promise<(string | null)[]> => {
  const refunds = await sales.service.services.store.treasury.newestPayouts('refund', 100);
  return refunds.map(({ reason }) => reason);
};

describe('without a mail server, an e-mail address as contact', () => {
  it('is refused before anybody pays, with the field named', async () => {
    await start(NO_MAIL);
    const refused = await sales.service.post('/v1/anchor/keys/quote', {
      tier: 'pro',
      contact: 'a@example.com',
    });
    expectProblem(refused, 'invalid_field', 'contact');
    expect(refused.json.detail).toContain('sends no e-mail');
    expect(await orders()).toEqual([]);
  });

  it('gives way to issuer_did, and the quote says so', async () => {
    await start(NO_MAIL);
    const did = await newDid();
    const asked = await quote(sales.service, { tier: 'pro', contact: 'a@example.com', issuer_did: did });
    expect(asked).toMatchObject({ delivered_to: { kind: 'did', to: did } });
    await sales.chain.pay(BigInt(asked.amount));
    await watch(sales.service);
    await deliver();
    const { json } = await sales.service.get(`/v1/anchor/keys/orders/${asked.order_id}`);
    expect(json).toMatchObject({ state: 'done', attempts: 1, sealed: { v: expect.any(String) as string } });
  });

  it('in the memo of a transfer that has come: the DID gets the key', async () => {
    await start(NO_MAIL);
    const did = await newDid();
    const tx = await sales.chain.pay(PRO, `tier=pro contact=a@example.com issuer_did=${did}`);
    expect(await settled(tx)).toMatchObject({ outcome: 'key' });
    await deliver();
    expect(await orders()).toMatchObject([{ state: 'done', attempts: 1 }]);
  });

  it('in the memo of a transfer that has come, alone: the money is paid back', async () => {
    await start(NO_MAIL);
    const tx = await sales.chain.pay(PRO, 'tier=pro contact=a@example.com');
    expect(await settled(tx)).toMatchObject({ outcome: 'refund' });
    expect(await refundReasons()).toEqual(['no_mail_server']);
    expect(await orders()).toEqual([]);
  });

  it('of a quote from when there was one: the money is paid back', async () => {
    await start();
    const asked = await quote(sales.service, { tier: 'pro', contact: 'a@example.com' });
    expect(asked).toMatchObject({ delivered_to: { kind: 'email', to: 'a@example.com' } });
    const { dataDir } = sales.service.config;
    await sales.service.services.close();
    await start({ env: { ...NO_MAIL.env, TALLY_DATA_DIR: dataDir } });
    const tx = await sales.chain.pay(BigInt(asked.amount));
    expect(await settled(tx)).toMatchObject({ outcome: 'refund' });
    expect(await refundReasons()).toEqual(['no_mail_server']);
  });
});
