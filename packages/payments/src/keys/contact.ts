import { isDid, parseDid, publicKeyOfDidKey, TallyError } from '@tallystick/core';

/** Where a key is delivered to. */
export type Destination =
  | { readonly kind: 'email'; readonly address: string }
  /** `example.com`; in development also a loopback host with its port. */
  | { readonly kind: 'domain'; readonly domain: string }
  | { readonly kind: 'did'; readonly did: string };

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(?=.{4,253}$)(?:${LABEL}\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`);
/** RFC 5321's dot-string: no quotes, no comments, nothing that a header could be broken with. */
const LOCAL_PART = /^(?=.{1,64}$)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1):\d{1,5}$/;

/**
 * Reads a contact (specification 5.4): an e-mail address, a domain, or a DID. Null where it is none.
 * @param development lets a loopback host pass for a domain
 */
export function readContact(text: string, development: boolean): Destination | null {
  if (text.startsWith('did:')) return isSealable(text) ? { kind: 'did', did: text } : null;
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1).toLowerCase();
  if (at === -1) {
    const known = DOMAIN.test(domain) || (development && LOOPBACK.test(domain));
    return known ? { kind: 'domain', domain } : null;
  }
  const local = text.slice(0, at);
  return LOCAL_PART.test(local) && DOMAIN.test(domain)
    ? { kind: 'email', address: `${local}@${domain}` }
    : null;
}

/** Whether a key can be sealed to the DID: its method is resolved here without asking anyone. */
function isSealable(did: string): boolean {
  if (!isDid(did)) return false;
  const { method } = parseDid(did);
  if (method !== 'key') return method === 'svc';
  try {
    publicKeyOfDidKey(did);
    return true;
  } catch (error) {
    if (error instanceof TallyError) return false;
    throw error;
  }
}

export type DestinationFault = 'no_contact' | 'bad_contact' | 'no_mail_server';

/** What this service can deliver to. */
export interface Deliverable {
  /** A loopback host passes for a domain. */
  readonly development: boolean;
  /** Whether a mail server is configured. */
  readonly mail: boolean;
}

/**
 * Where a key goes: to the contact; without one, sealed to the DID. A contact by e-mail also gives way to the DID where
 * no e-mail can be sent.
 */
export function destinationOf(
  { contact, did }: { readonly contact: string | null; readonly did: string | null },
  { development, mail }: Deliverable,
): Destination | DestinationFault {
  if (contact === null && did === null) return 'no_contact';
  const sealed = did === null ? null : readContact(did, development);
  if (did !== null && sealed?.kind !== 'did') return 'bad_contact';
  const named = contact === null ? sealed : readContact(contact, development);
  if (named?.kind === 'email' && !mail) return sealed ?? 'no_mail_server';
  return named ?? 'bad_contact';
}
