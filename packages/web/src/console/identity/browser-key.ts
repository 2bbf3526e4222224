import { type AgentKey, didKeyOf } from '@tallystick/core';

const DATABASE = 'tallystick';
const STORE = 'keys';
const OWN = 'own';

/** Whether this page can make a key: a secure context, and a WebCrypto with Ed25519. */
export const canMakeKeys = (): boolean => isSecureContext && 'subtle' in crypto && 'indexedDB' in globalThis;

/** The key that this browser holds, whose secret no script can read; null if it holds none. */
export async function openBrowserKey(): Promise<AgentKey | null> {
  const pair = await inStore<CryptoKeyPair | undefined>('readonly', (store) => store.get(OWN));
  return pair === undefined ? null : agentOf(pair);
}

/** Makes a key in this browser, in place of none. Its secret can't be exported, so it works in this browser alone. */
export async function makeBrowserKey(): Promise<AgentKey> {
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  const agent = await agentOf(pair);
  await inStore('readwrite', (store) => store.add(pair, OWN));
  return agent;
}

/** Deletes the key for good. */
export async function deleteBrowserKey(): Promise<void> {
  await inStore('readwrite', (store) => store.delete(OWN));
}

async function agentOf({ privateKey, publicKey }: CryptoKeyPair): Promise<AgentKey> {
  const bytes = new Uint8Array(await crypto.subtle.exportKey('raw', publicKey));
  const did = didKeyOf(bytes);
  const sign = async (message: Uint8Array): Promise<Uint8Array> =>
    new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, Uint8Array.from(message)));
  return { did, signer: { keyId: did, publicKey: bytes, sign } };
}

async function inStore<T>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(STORE));
  const database = await resultOf(opening);
  try {
    return await resultOf(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('The key store failed.')));
  });
}
