import { expect, test } from 'vitest';
import { type Handle, openPkcs11Key, type Pkcs11 } from './pkcs11.ts';

// How keys are used is tested with a real library, in e2e/system/pkcs11.test.ts: here is what no such library does when asked.

const SETTINGS = { module: '/device.so', pin: '648219' };

/** What pkcs11js throws. */
function refusal(name: string, code: number): Error {
  return Object.assign(new Error(name), { code });
}

/** A library with one token, and what was done to it. `failure` is what the next signatures fail with. */
function device(pin = SETTINGS.pin) {
  const open = new Set<Handle>();
  const state = { logins: 0, failure: null as Error | null, open };
  const key = Buffer.from('key');
  const lib: Pkcs11 = {
    load() {},
    C_Initialize() {},
    C_GetSlotList: () => [Buffer.from('slot')],
    C_GetTokenInfo: () => ({ label: 'tally' }),
    C_OpenSession() {
      const session = Buffer.from('session');
      open.add(session);
      return session;
    },
    C_CloseSession(session) {
      if (!open.delete(session)) throw refusal('CKR_SESSION_HANDLE_INVALID', 0xb3);
    },
    C_Login(_session, _user, given) {
      state.logins += 1;
      if (given !== pin) throw refusal('CKR_PIN_INCORRECT', 0xa0);
    },
    C_FindObjectsInit() {},
    C_FindObjects: () => [key],
    C_FindObjectsFinal() {},
    C_GetAttributeValue: () => [{ value: Buffer.alloc(32) }],
    C_SignInit() {},
    async C_SignAsync(_session, _message, signature) {
      if (state.failure !== null) throw state.failure;
      return signature;
    },
  };
  return {
    lib,
    state,
    key: (object: string) => openPkcs11Key(`pkcs11:token=tally;object=${object}`, SETTINGS, () => lib),
  };
}

const message = new Uint8Array(3);
const signatures = (key: ReturnType<typeof openPkcs11Key>, count: number) =>
  Promise.allSettled(Array.from({ length: count }, () => key.sign(message)));

test('a device that fails keeps no session of the failed signatures', async () => {
  const { state, key } = device();
  const receipt = key('receipt');
  await signatures(receipt, 20);
  const before = state.open.size;
  state.failure = refusal('CKR_DEVICE_ERROR', 0x30);
  for (let round = 0; round < 5; round += 1) {
    const failed = await signatures(receipt, 20);
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(['rejected']));
  }
  expect(state.open.size).toBe(0);
  state.failure = null;
  await signatures(receipt, 20);
  expect(state.open.size).toBe(before);
});

test('a device that was reset is used again, though it knows no session any more', async () => {
  const { state, key } = device();
  const receipt = key('receipt');
  await receipt.sign(message);
  state.open.clear();
  state.failure = refusal('CKR_SESSION_HANDLE_INVALID', 0xb3);
  await expect(receipt.sign(message)).rejects.toThrow(/CKR_SESSION_HANDLE_INVALID/);
  state.failure = null;
  expect(await receipt.sign(message)).toHaveLength(64);
});

test('a PIN that the token refuses is tried once, for whichever key', async () => {
  const { state, key } = device('another');
  for (const object of ['receipt', 'receipt', 'log', 'status']) {
    await expect(key(object).publicKey()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^The PKCS#11 token tally refuses the PIN \(CKR_PIN_INCORRECT/),
    });
  }
  expect(state).toMatchObject({ logins: 1, open: new Set() });
});
