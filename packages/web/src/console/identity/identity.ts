import { computed, signal } from '@preact/signals';
import { type AgentKey, createSigner, parseJson, secretInKeyDocument, TallyError } from '@tallystick/core';
import { openBrowserKey } from './browser-key.ts';

/** Who is signed in, and how its requests prove it. */
export type Identity =
  | { readonly way: 'bearer'; readonly kind: KeyKind; readonly key: string }
  | { readonly way: 'did'; readonly from: 'file' | 'browser'; readonly agent: AgentKey };

type KeyKind = 'API key' | 'Tenant key' | 'Partner key' | 'Operator key';

/** Nobody at first. It is held in memory and, after a click, in the session's storage; never in a cookie. */
export const identity = signal<Identity | null>(null);

const STORED_AS = 'tallystick-session';
const KINDS: Readonly<Record<string, KeyKind>> = {
  pro: 'API key',
  scale: 'API key',
  ent: 'API key',
  call: 'API key',
  ten: 'Tenant key',
  par: 'Partner key',
  op: 'Operator key',
};

/** The identity of a key's text. @throws invalid_field unless it has the form of a key */
export function identityOfKey(text: string): Identity {
  const [key, tier] = /^k_(pro|scale|ent|call|ten|par|op)_[A-Za-z0-9]{32}$/.exec(text.trim()) ?? [];
  const kind = tier === undefined ? undefined : KINDS[tier];
  if (key === undefined || kind === undefined) {
    throw new TallyError(
      'invalid_field',
      'This is no key. A key is k_pro_, k_scale_, k_ent_, k_call_, k_ten_, k_par_ or k_op_ followed by 32 letters and digits.',
      { field: 'key' },
    );
  }
  return { way: 'bearer', kind, key };
}

/** The identity in a key file's bytes. @throws json_*, invalid_secret_key, invalid_base64url */
export async function identityOfFile(bytes: Uint8Array): Promise<Identity> {
  const signer = await createSigner(secretInKeyDocument(parseJson(bytes)));
  return { way: 'did', from: 'file', agent: { did: signer.keyId, signer } };
}

/** Whether an operator is signed in, who has pages of its own. */
export const isOperator = computed(
  () => identity.value?.way === 'bearer' && identity.value.kind === 'Operator key',
);

/** Signs in. @param keep whether to stay signed in until the tab is closed, which a key file's secret never does */
export function signIn(who: Identity, { keep }: { readonly keep: boolean }): void {
  identity.value = who;
  if (!keep) return forget();
  if (who.way === 'bearer') store(who.key);
  else if (who.from === 'browser') store(who.agent.did);
}

/** Forgets who was signed in. A key that this browser holds stays in it until its reader deletes it. */
export function signOut(): void {
  identity.value = null;
  forget();
}

/** Opens a window that does not get the copy of the session's storage that browsers give it, which no sign-out here would empty. */
export function openSignedOut(path: string): Window | null {
  const kept = recall();
  forget();
  const opened = open(path, '_blank');
  if (kept !== null) store(kept);
  return opened;
}

/** Signs in whom the session remembers. */
export async function resume(): Promise<void> {
  const kept = recall();
  if (kept === null || identity.value !== null) return;
  try {
    if (!kept.startsWith('did:')) identity.value = identityOfKey(kept);
    else {
      const agent = await openBrowserKey();
      if (agent?.did === kept) identity.value = { way: 'did', from: 'browser', agent };
    }
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    forget();
  }
}

/** Signs in with the operator key of a link (`tally operator-key create --link`), and takes it out of the address. */
export function followOperatorLink(): void {
  const key = /^#(k_op_[0-9A-Za-z]{32})$/.exec(location.hash)?.[1];
  if (key === undefined || location.pathname !== '/operator') return;
  history.replaceState(null, '', location.pathname);
  identity.value = identityOfKey(key);
}

/** A short name that holds no secret: the key's kind and first characters, or the DID's. */
export function nameOf(who: Identity): { readonly kind: string; readonly name: string } {
  if (who.way === 'did') return { kind: 'DID', name: shortened(who.agent.did) };
  return { kind: who.kind, name: `${who.key.slice(0, who.key.lastIndexOf('_') + 5)}…` };
}

function shortened(did: string): string {
  return did.length <= 24 ? did : `${did.slice(0, 14)}…${did.slice(-6)}`;
}

function store(text: string): void {
  try {
    sessionStorage.setItem(STORED_AS, text);
  } catch {
    // This browser stores nothing for the page: it stays signed in until the page is closed.
  }
}

function recall(): string | null {
  try {
    return sessionStorage.getItem(STORED_AS);
  } catch {
    return null;
  }
}

function forget(): void {
  try {
    sessionStorage.removeItem(STORED_AS);
  } catch {
    // Nothing is stored for this page.
  }
}
