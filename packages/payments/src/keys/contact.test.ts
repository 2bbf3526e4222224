import { describe, expect, it } from 'vitest';
import { destinationOf, readContact } from './contact.ts';

const DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

const ALL = { development: false, mail: true };

describe('a contact', () => {
  it.each([
    ['a.b+c@Example.com', { kind: 'email', address: 'a.b+c@example.com' }],
    ['ops@xn--bcher-kva.example', { kind: 'email', address: 'ops@xn--bcher-kva.example' }],
    ['Example.COM', { kind: 'domain', domain: 'example.com' }],
    ['keys.eu-west.example.com', { kind: 'domain', domain: 'keys.eu-west.example.com' }],
    [DID, { kind: 'did', did: DID }],
    ['did:svc:acme', { kind: 'did', did: 'did:svc:acme' }],
  ])('%s', (text, expected) => {
    expect(readContact(text, false)).toEqual(expected);
  });

  it.each([
    '',
    'nobody',
    'a@b',
    '@example.com',
    'a@',
    'a b@example.com',
    'a@example.com,b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    '"a"@example.com',
    '.a@example.com',
    `${'a'.repeat(65)}@example.com`,
    'localhost',
    'localhost:8080',
    '127.0.0.1',
    '10.0.0.1',
    '[::1]',
    '0x7f.1',
    'example.com:8443',
    'example.com/path',
    'user@host@example.com',
    '-a.example.com',
    'example.1',
    'did:web:example.com',
    'did:key:zzz',
    'did:key:',
  ])('%j is none', (text) => {
    expect(readContact(text, false)).toBeNull();
  });

  it('may be a loopback host in development alone', () => {
    expect(readContact('localhost:8080', true)).toEqual({ kind: 'domain', domain: 'localhost:8080' });
    expect(readContact('10.0.0.1:80', true)).toBeNull();
  });

  it('gives way to the DID where no e-mail can be sent', () => {
    const noMail = { development: false, mail: false };
    expect(destinationOf({ contact: 'a@example.com', did: DID }, noMail)).toMatchObject({ kind: 'did' });
    expect(destinationOf({ contact: 'a@example.com', did: null }, noMail)).toBe('no_mail_server');
    expect(destinationOf({ contact: 'example.com', did: DID }, noMail)).toMatchObject({ kind: 'domain' });
  });

  it('comes before the DID, which must be good all the same', () => {
    expect(destinationOf({ contact: 'a@example.com', did: DID }, ALL)).toMatchObject({ kind: 'email' });
    expect(destinationOf({ contact: null, did: DID }, ALL)).toMatchObject({ kind: 'did' });
    expect(destinationOf({ contact: null, did: null }, ALL)).toBe('no_contact');
    expect(destinationOf({ contact: 'a@example.com', did: 'did:web:x' }, ALL)).toBe('bad_contact');
    expect(destinationOf({ contact: null, did: 'a@example.com' }, ALL)).toBe('bad_contact');
  });
});
