import { TallyError } from '../errors.ts';
import { parseDid } from './did.ts';

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const authoritySyntax = new RegExp(`^(${label}(?:\\.${label})*)(?:%3[Aa]([1-9][0-9]{0,4}))?$`);

/** URL parsers read a host as an IPv4 address when its last label is a number, also in hexadecimal. */
const numericLastLabel = /(?:^|\.)(?:[0-9]+|0[Xx][0-9A-Fa-f]*)$/;

const unsafeInSegment = /[\p{Cc}\s/\\?#%:]/u;

/**
 * The HTTPS address of a did:web's document (did:web method, section 2.5.2). It says nothing about where the
 * name leads: whoever fetches it must keep away from private addresses.
 * @throws invalid_did for IP addresses, bad ports, and path segments that are empty, dots or hide separators
 */
export function didWebUrl(did: string): string {
  const { method, id } = parseDid(did);
  if (method !== 'web') throw new TallyError('invalid_did', 'Expected a did:web.');
  const [authority = '', ...segments] = id.split(':');
  const origin = `https://${hostAndPort(authority)}`;
  if (segments.length === 0) return `${origin}/.well-known/did.json`;
  for (const segment of segments) checkSegment(segment);
  return `${origin}/${segments.join('/')}/did.json`;
}

function hostAndPort(authority: string): string {
  const [, host, port] = authoritySyntax.exec(authority) ?? [];
  if (host === undefined || host.length > 253 || numericLastLabel.test(host)) {
    throw new TallyError('invalid_did', 'The did:web does not start with a domain name.');
  }
  if (port !== undefined && Number(port) > 65_535) {
    throw new TallyError('invalid_did', 'The port of the did:web is above 65535.');
  }
  return host.toLowerCase() + (port === undefined ? '' : `:${port}`);
}

function checkSegment(segment: string): void {
  const text = decodeSegment(segment);
  if (text === '' || text === '.' || text === '..' || unsafeInSegment.test(text)) {
    throw new TallyError(
      'invalid_did',
      'A path segment of the did:web is empty, consists of dots, or hides a separator.',
    );
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new TallyError('invalid_did', 'A path segment of the did:web is not percent-encoded UTF-8.', {
      cause,
    });
  }
}
