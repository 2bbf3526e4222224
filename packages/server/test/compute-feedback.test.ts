import {
  createSigner,
  generateSecretKey,
  type JsonObject,
  type Signer,
  signRequest,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, messages, svcOf } from './compute.ts';
import { apiKey, type Reply, shareLearned, startTestService, type TestService } from './service.ts';

const FEEDBACK = '/v1/compute/feedback';
const DAY = 86_400_000;

let service: TestService;
let owner: { authorization: string };
let stranger: { authorization: string };
beforeAll(async () => {
  service = await startTestService();
  owner = await apiKey(service, 'scale');
  stranger = await apiKey(service, 'scale');
});
afterAll(() => service.close());

let nonces = 0;
/** Posts a body that a DID signs. */
async function signed(signer: Signer, path: string, body: JsonObject): Promise<Reply> {
  const text = JSON.stringify(body);
  const url = new URL(`${service.config.apiUrl}${path}`);
  const request = { method: 'POST', url, body: utf8(text) };
  nonces += 1;
  const moment = { created: Math.floor(service.clock() / 1_000), nonce: `feedback-${nonces}` };
  return service.post(path, text, await signRequest(request, { did: signer.keyId, signer }, moment));
}

const CALL = { model: 'local/extract-1', messages };
const idIn = (reply: Reply): string => {
  expect(reply.status, reply.text).toBe(200);
  return svcOf(reply).receipt.receipt_id;
};
const called = async (headers: Record<string, string> = owner): Promise<string> => {
  const receiptId = idIn(await service.post(CHAT, CALL, headers));
  await shareLearned(service);
  return receiptId;
};
const rate = (body: JsonObject, headers: Record<string, string> = owner) =>
  service.post(FEEDBACK, body, headers);

describe('feedback', () => {
  it('is taken from the key that made the call, at once, and answered alike when it is repeated', async () => {
    const body = { receipt_id: await called(), score: 70, comment: 'Nearly. 🌍' };
    const first = await rate(body);
    expect(first.status, first.text).toBe(200);
    expect(first.json).toEqual({
      ...body,
      model: 'local/extract-1',
      label: null,
      rated_at: '2027-03-01T12:00:00Z',
    });
    expect((await rate(body)).text).toBe(first.text);
  });

  it('stands: another rating of the call is refused', async () => {
    const receipt_id = await called();
    expect((await rate({ receipt_id, label: 'good' })).json).toMatchObject({ score: 100, label: 'good' });
    const again = await rate({ receipt_id, label: 'bad' });
    expect(again.json).toMatchObject({ status: 409, code: 'rated_otherwise', field: 'receipt_id' });
  });

  it('is taken from the DID that signed the call', async () => {
    const [signer, other] = await Promise.all([
      createSigner(generateSecretKey()),
      createSigner(generateSecretKey()),
    ]);
    const receipt_id = idIn(await signed(signer, CHAT, CALL));
    const body = { receipt_id, label: 'bad' };
    expect((await signed(other, FEEDBACK, body)).json).toMatchObject({ code: 'receipt_not_found' });
    // The DID alone is no proof.
    expect((await rate(body, { 'x-agent-did': signer.keyId })).json).toMatchObject({
      code: 'receipt_not_found',
    });
    expect((await signed(signer, FEEDBACK, body)).json).toMatchObject({ score: 0, label: 'bad' });
  });

  it('of another’s call is refused as if there were no such call', async () => {
    const receipt_id = await called();
    const refused = await rate({ receipt_id, score: 1 }, stranger);
    expect(refused.json).toMatchObject({ status: 404, code: 'receipt_not_found', field: 'receipt_id' });
    const unknown = await rate({ receipt_id: 'r_env_1803902400_0123456789ab', score: 1 }, stranger);
    const { instance: _, ...problem } = unknown.json;
    expect(refused.json).toMatchObject(problem);
    expect((await rate({ receipt_id, score: 1 })).status).toBe(200);
  });

  it.each([
    [{ score: 101 }, 'invalid_field', 'score'],
    [{ score: 0.5 }, 'invalid_field', 'score'],
    [{ label: 'fine' }, 'invalid_field', 'label'],
    [{ score: 1, label: 'bad' }, 'conflicting_fields', 'label'],
    [{}, 'missing_field', 'score'],
    [{ score: 1, comment: 'x'.repeat(501) }, 'invalid_field', 'comment'],
    [{ score: 1, comment: '' }, 'invalid_field', 'comment'],
    [{ score: 1, stars: 5 }, 'unknown_field', 'stars'],
    [{ score: 1, receipt_id: '../x' }, 'invalid_field', 'receipt_id'],
  ])('%j is refused with the field and a code', async (body, code, field) => {
    const reply = await rate({ receipt_id: await called(), ...body });
    expect(reply.status).toBe(422);
    expect(reply.json).toMatchObject({ code, field });
  });

  it('is taken for a number of days', async () => {
    const [early, late] = [await called(), await called()];
    service.clock.advance(7 * DAY - 1_000);
    expect((await rate({ receipt_id: early, score: 1 })).status).toBe(200);
    service.clock.advance(1_000);
    expect((await rate({ receipt_id: late, score: 1 })).json).toMatchObject({ code: 'receipt_not_found' });
    expect((await rate({ receipt_id: early, score: 1 })).json).toMatchObject({ code: 'receipt_not_found' });
  });
});

describe('a service that takes no ratings', () => {
  it('has no call to rate', async () => {
    const silent = await startTestService({ env: { TALLY_RATING_DAYS: '0' } });
    const receipt_id = idIn(await silent.post(CHAT, CALL));
    const reply = await silent.post(FEEDBACK, { receipt_id, score: 1 });
    expect(reply.json).toMatchObject({ status: 404, code: 'receipt_not_found' });
    await silent.close();
  });
});
