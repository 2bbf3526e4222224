import { describe, expect, it } from 'vitest';
import { parsePlace, placesOf, readTarget } from './surface.ts';

describe('a target', () => {
  it.each([
    ['https://example.com', 'https://example.com'],
    ['https://Example.COM/', 'https://example.com'],
    ['https://example.com:443', 'https://example.com'],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['https://[2001:db8::1]', 'https://[2001:db8::1]'],
  ])('%s is %s', (origin, expected) => {
    expect(readTarget({ origin })).toEqual({ origin: expected, descriptor: null });
  });

  it.each([
    'example.com',
    'ftp://example.com',
    'https://example.com/path',
    'https://example.com?q',
    'https://u@example.com',
    '',
  ])('%j is none', (origin) => {
    expect(() => readTarget({ origin })).toThrow(
      expect.objectContaining({ code: 'invalid_field', field: 'origin' }),
    );
  });

  it.each([
    [{ origin: 'https://a.example' }, 'https://a.example'],
    [{ agent_onboarding: { base_url: 'https://a.example/v1/compute' } }, 'https://a.example'],
    [
      { origin: 'https://a.example', agent_onboarding: { base_url: 'https://b.example' } },
      'https://a.example',
    ],
  ])('a descriptor names it: %j', (descriptor, origin) => {
    expect(readTarget({ descriptor })).toEqual({ origin, descriptor });
  });

  it.each([
    [{}, 'missing_field', 'origin'],
    [{ origin: 'https://a.example', descriptor: {} }, 'conflicting_fields', 'origin'],
    [{ descriptor: {} }, 'missing_field', 'descriptor.origin'],
    [{ descriptor: { origin: 7 } }, 'missing_field', 'descriptor.origin'],
    [{ descriptor: { origin: 'https://a.example/x' } }, 'invalid_field', 'descriptor.origin'],
    [
      { descriptor: { agent_onboarding: { base_url: 'nothing' } } },
      'invalid_field',
      'descriptor.agent_onboarding.base_url',
    ],
  ])('%j: %s of %s', (given, code, field) => {
    expect(() => readTarget(given)).toThrow(expect.objectContaining({ code, field }));
  });
});

describe('a place', () => {
  it.each([
    ['POST /mcp', { method: 'POST', path: '/mcp' }],
    ['GET /a/b?c=d', { method: 'GET', path: '/a/b?c=d' }],
    ['GET /', { method: 'GET', path: '/' }],
    ['DELETE /x', null],
    ['GET //evil.example/', null],
    ['GET /\\evil.example/', null],
    ['GET https://evil.example/', null],
    ['GET /a b', null],
    ['GET /a\r\nHost: x', null],
    ['GET /é', null],
    ['/mcp', null],
    [7, null],
    [undefined, null],
  ])('%j is %j', (text, expected) => {
    expect(parsePlace(text)).toEqual(expected);
  });

  it('never leaves the origin', () => {
    for (const text of ['GET /%2f/x', 'GET /@evil.example/', 'GET /.', 'GET /..//evil.example', 'GET /:80'])
      expect(new URL(`https://a.example${parsePlace(text)?.path}`).origin).toBe('https://a.example');
  });

  it('is the default where the descriptor names none', () => {
    expect(placesOf(null)).toMatchObject({ mcp: { method: 'POST', path: '/mcp' }, paid: null });
    expect(placesOf({ endpoints: { mcp: 'POST /tools', paid: 'GET /paid' } })).toMatchObject({
      mcp: { method: 'POST', path: '/tools' },
      paid: { method: 'GET', path: '/paid' },
      trust: { method: 'GET', path: '/.well-known/trust.json' },
    });
  });
});
