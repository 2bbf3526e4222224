import { describe, expect, test } from 'vitest';
import { isDid, parseDid } from './did.ts';
import { didSvc, parseDidSvc } from './svc.ts';
import { didWebUrl } from './web.ts';

const invalidDid = expect.objectContaining({ code: 'invalid_did' });

describe('parseDid', () => {
  test.each([
    ['did:example:123', { method: 'example', id: '123' }],
    ['did:web:example.com%3A3000:user', { method: 'web', id: 'example.com%3A3000:user' }],
    ['did:a1:x::y', { method: 'a1', id: 'x::y' }],
    [`did:x:${'a'.repeat(2042)}`, { method: 'x', id: 'a'.repeat(2042) }],
  ])('reads %s', (text, did) => {
    expect(parseDid(text)).toEqual(did);
    expect(isDid(text)).toBe(true);
  });

  test.each([
    '',
    'did:',
    'did:example',
    'did:example:',
    'did:example:a:',
    'did::a',
    'DID:example:a',
    'did:Example:a',
    'did:example:a#key',
    'did:example:a/path',
    'did:example:a?query',
    'did:example:a b',
    'did:example:a%4',
    'did:example:a%zz',
    'did:example:é',
    'did:example:a\n',
    ' did:example:a',
    `did:x:${'a'.repeat(2043)}`,
  ])('refuses %j', (text) => {
    expect(isDid(text)).toBe(false);
    expect(() => parseDid(text)).toThrow(invalidDid);
  });
});

describe('did:svc', () => {
  test.each(['a', 'acme', 'a-1', 'a'.repeat(63)])('handle %s', (handle) => {
    expect(parseDidSvc(didSvc(handle))).toEqual({ handle, kid: null });
    expect(parseDidSvc(`${didSvc(handle)}:Key_1.b-2`)).toEqual({ handle, kid: 'Key_1.b-2' });
  });

  test.each(['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a:b', 'é', 'a\n', 'a'.repeat(64)])(
    'refuses handle %j',
    (handle) => {
      expect(() => didSvc(handle)).toThrow(invalidDid);
    },
  );

  test.each([
    'did:svc:',
    'did:svc:A',
    'did:svc:a:',
    'did:svc:a:k:l',
    'did:svc:a#k',
    'did:svc:a\n',
    `did:svc:a:${'k'.repeat(65)}`,
    'did:key:a',
  ])('refuses %j', (did) => {
    expect(() => parseDidSvc(did)).toThrow(invalidDid);
  });
});

describe('didWebUrl', () => {
  // The first three are the examples of the did:web method, section 2.5.2.
  test.each([
    ['did:web:w3c-ccg.github.io', 'https://w3c-ccg.github.io/.well-known/did.json'],
    ['did:web:w3c-ccg.github.io:user:alice', 'https://w3c-ccg.github.io/user/alice/did.json'],
    ['did:web:example.com%3A3000:user:alice', 'https://example.com:3000/user/alice/did.json'],
    ['did:web:Example.COM%3a8443', 'https://example.com:8443/.well-known/did.json'],
    ['did:web:example.com:caf%C3%A9', 'https://example.com/caf%C3%A9/did.json'],
  ])('%s is at %s', (did, url) => {
    expect(didWebUrl(did)).toBe(url);
    expect(new URL(url).href).toBe(url);
  });

  test.each([
    'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',
    'did:web:127.0.0.1',
    'did:web:127.1',
    'did:web:2130706433',
    'did:web:0x7f000001',
    'did:web:0X7F.0x',
    'did:web:1.2.3.08',
    'did:web:%5B%3A%3A1%5D',
    'did:web:example.com%3A',
    'did:web:example.com%3A0',
    'did:web:example.com%3A080',
    'did:web:example.com%3A65536',
    'did:web:example.com%3A80%3A80',
    'did:web:user%40example.com',
    'did:web:-example.com',
    'did:web:example..com',
    'did:web:example.com.',
    'did:web:exa_mple.com',
    `did:web:${'a.'.repeat(127)}aa`,
    'did:web:example.com::a',
    'did:web:example.com:..:a',
    'did:web:example.com:.',
    'did:web:example.com:%2e%2E',
    'did:web:example.com:a%2Fb',
    'did:web:example.com:a%5Cb',
    'did:web:example.com:a%3Fb',
    'did:web:example.com:a%23b',
    'did:web:example.com:a%252Fb',
    'did:web:example.com:a%00',
    'did:web:example.com:a%20b',
    'did:web:example.com:%ff',
  ])('refuses %s', (did) => {
    expect(() => didWebUrl(did)).toThrow(invalidDid);
  });
});
