import { isDid, parseDid, publicKeyOfDidKey, TallyError } from '@tallystick/core';

/** The address to which a key is delivered. */
export type Destination =
  | { readonly kind: 'email'; readonly address: string }
  /** `example.com`; in development also a loopback host with its port. */
  | { readonly kind: 'domain'; readonly domain: string }
  | { readonly kind: 'did'; readonly did: string };

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(?=.{4,253}$)(?:${LABEL}\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`);
/** RFC 5321's dot-string: without quotes and comments, so that nothing in it can break a header. */
const LOCAL_PART = /^(?=.{1,64}$)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1):\d{1,5}$/;

/**
 * Reads a contact (specification 5.4): an e-mail address, a domain, or a DID; null for anything else.
 * @param development also accepts a loopback host as a domain
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

/** Whether a key can be sealed to the DID: its method is resolved here, without a request. */
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

/** The ways in which this service can deliver keys. */
export interface Deliverable {
  /** Whether a loopback host is accepted as a domain. */
  readonly development: boolean;
  /** Whether a mail server is configured. */
  readonly mail: boolean;
}

/**
 * The destination of a key: the contact, or without one the DID, for which it is sealed. The DID also replaces an
 * e-mail address where no e-mail can be sent.
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
