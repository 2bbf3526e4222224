import { toBase64 } from '../../packages/core/src/encoding/base64.ts';
import { signatureBase } from '../../packages/core/src/http-signatures/signature-base.ts';
import {
  type BareItem,
  type InnerList,
  serializeInnerList,
} from '../../packages/core/src/http-signatures/structured-fields.ts';
import { createSigner, type Signer, signRequest, toBase64url, utf8 } from '../../packages/core/src/index.ts';
import { type KeyName, seedOf, signers } from './keys.ts';

/** A request as a service receives it, and the DID that its message signature (spec/identity.md) proves. */
export interface MessageSignatureCase {
  readonly name: string;
  readonly comment: string;
  readonly method: string;
  /** URLs of the request below each of the service's public addresses. */
  readonly urls: readonly string[];
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body as UTF-8 text; empty if there is none. */
  readonly body: string;
  /** Time of verifying, in Unix seconds. */
  readonly now: number;
  /** Input of `signRequest`, if it made the headers, so that other signers can compare theirs byte for byte. */
  readonly signed?: {
    readonly key: string;
    readonly did: string;
    readonly url: string;
    readonly created: number;
    readonly nonce: string;
  };
  /** `verified`: with the key of the did:key, or with `signed.key`. */
  readonly expected:
    | { readonly did: string; readonly key_id: string; readonly nonce: string; readonly verified: boolean }
    | { readonly code: string };
}

const NOW = 1_772_323_200;
const NONCE = 'b3JjaGlkLWZvci10aGUtbG9n';
const API = 'https://api.example.com';
const RECEIPTS = 'https://receipts.example.com/tally';
const CHAT = '/v1/compute/chat/completions';
const BODY = '{"model":"auto","messages":[{"role":"user","content":"Grüß Gott"}]}';

type Request = Pick<MessageSignatureCase, 'method' | 'urls' | 'headers' | 'body' | 'now'>;

const didOf = (key: KeyName): string => signers[key].keyId;
const below = (path: string): string[] => [API + path, RECEIPTS + path];

/** A request signed by `signRequest`. */
async function good(
  options: { key?: KeyName; did?: string; path?: string; base?: string; body?: string; method?: string } = {},
): Promise<Request & Required<Pick<MessageSignatureCase, 'signed'>>> {
  const { key = 'agent', did = didOf(key), path = CHAT, base = API, body = BODY, method = 'POST' } = options;
  const url = base + path;
  const bytes = body === '' ? null : utf8(body);
  const signer = did.startsWith('did:key:') ? signers[key] : await named(key, did);
  const moment = { created: NOW, nonce: NONCE };
  const headers = await signRequest({ method, url: new URL(url), body: bytes }, { did, signer }, moment);
  return { method, urls: below(path), headers, body, now: NOW, signed: { key, did, url, ...moment } };
}

/** A signer of the key, under an id below a did:svc. */
async function named(key: KeyName, did: string): Promise<Signer> {
  return { ...(await createSigner(seedOf(key))), keyId: `${did}:k1` };
}

/** A request with a signature over any components and with any parameters. */
async function own(
  covered: readonly string[],
  parameters: Readonly<Record<string, BareItem>> = {},
  options: { path?: string; headers?: Record<string, string>; label?: string } = {},
): Promise<Request> {
  const { path = CHAT, label = 'sig1' } = options;
  const signer = signers.agent;
  const { signed: _signed, ...base } = await good({ path });
  const headers: Record<string, string> = { ...base.headers, ...options.headers };
  const all = { created: NOW, nonce: NONCE, keyid: signer.keyId, ...parameters };
  const present = Object.entries(all).filter(([, value]) => value !== '');
  const listOf = (names: readonly string[]): InnerList => ({
    items: names.map((value) => ({ value, parameters: new Map() })),
    parameters: new Map(present),
  });
  const list = listOf(covered);
  const readable = listOf([...new Set(covered)]);
  const url = new URL(API + path);
  // A component that is covered twice can't be written as a base; any signature will do there.
  const text = signatureBase(readable, { method: 'POST', url, header: (name) => headers[name] });
  const signature = await signer.sign(utf8(text));
  return {
    ...base,
    headers: {
      ...headers,
      'signature-input': `${label}=${serializeInnerList(list)}`,
      signature: `${label}=:${toBase64(signature)}:`,
    },
  };
}

const ALL = ['@method', '@target-uri', 'x-agent-did', 'content-digest'];

export async function messageSignatureCases(): Promise<MessageSignatureCase[]> {
  return [...(await acceptedCases()), ...(await forgedCases()), ...(await refusedCases())];
}

async function acceptedCases(): Promise<MessageSignatureCase[]> {
  const is = (
    name: string,
    comment: string,
    request: Request & Pick<MessageSignatureCase, 'signed'>,
    did = didOf('agent'),
    keyId = did,
  ): MessageSignatureCase => ({
    name,
    comment,
    ...request,
    expected: { did, key_id: keyId, nonce: NONCE, verified: true },
  });
  const svc = 'did:svc:acme';
  const split = await own(
    ['@method', '@authority', '@path', 'x-agent-did', 'content-digest'],
    {},
    { label: 'a-b' },
  );
  const first = await good();
  const { signed: _signed, ...sent } = first;
  const proxied = {
    ...sent,
    headers: {
      ...first.headers,
      'signature-input': `proxy=("@method");created=1;keyid="edge", ${first.headers['signature-input']}`,
      signature: `proxy=:AAAA:,${first.headers['signature']}`,
    },
  };
  return [
    is('post', 'As the SDKs sign.', first),
    is('get', 'No body: no digest.', await good({ method: 'GET', path: '/v1/compute/models', body: '' })),
    is(
      'query',
      'The target URI holds it.',
      await good({ method: 'GET', path: '/v1/x?a=%C3%BC&b', body: '' }),
    ),
    is('second address', 'A service has several.', await good({ base: RECEIPTS })),
    is(
      'key of a did:svc',
      'By the id that it is registered with.',
      await good({ key: 'acme', did: svc }),
      svc,
      `${svc}:k1`,
    ),
    is('authority and path', 'In place of the target URI; any label.', split),
    is(
      'with the query',
      'It is a component of its own.',
      await own(
        ['@query', '@path', '@authority', '@method', 'content-digest', 'x-agent-did'],
        {},
        { path: '/v1/x?a=1' },
      ),
    ),
    is(
      'more than needed',
      'Any header may be covered.',
      await own([...ALL, 'content-type'], {}, { headers: { 'content-type': 'application/json' } }),
    ),
    is('oldest', '300 s ago.', await own(ALL, { created: NOW - 300 })),
    is('newest', '300 s ahead.', await own(ALL, { created: NOW + 300 })),
    is('expires now', 'The second still counts.', await own(ALL, { expires: NOW })),
    is(
      'two digests',
      'Only SHA-256 is looked at.',
      await own(
        ALL,
        {},
        {
          headers: {
            'content-digest': `sha-512=:${toBase64(new Uint8Array(64))}:, ${first.headers['content-digest']}`,
          },
        },
      ),
    ),
    is('escaped', 'A nonce with a quotation mark.', { ...(await own(ALL, { nonce: 'a"b\\c' })) }),
    is('signed by a proxy too', 'The agent’s covers the agent’s DID.', proxied),
  ].map((one) => (one.name === 'escaped' ? { ...one, expected: { ...one.expected, nonce: 'a"b\\c' } } : one));
}

/** Cases of well-formed signatures over something else. */
async function forgedCases(): Promise<MessageSignatureCase[]> {
  const first = await good();
  const expected = { did: didOf('agent'), key_id: didOf('agent'), nonce: NONCE, verified: false };
  const forged = (name: string, comment: string, change: Partial<Request>): MessageSignatureCase => ({
    name: `forged: ${name}`,
    comment,
    method: first.method,
    urls: first.urls,
    headers: first.headers,
    body: first.body,
    now: first.now,
    ...change,
    expected,
  });
  const input = first.headers['signature-input'] ?? '';
  const withInput = (changed: string): Partial<Request> => ({
    headers: { ...first.headers, 'signature-input': changed },
  });
  const stranger = await good({ key: 'stranger' });
  return [
    forged('method', 'PUT for POST.', { method: 'PUT' }),
    forged('path', 'Another route.', { urls: below('/v1/compute/embeddings') }),
    forged('query', 'One was added.', { urls: below(`${CHAT}?a=1`) }),
    forged('authority', 'Signed for another service.', { urls: [`https://api.example.net${CHAT}`] }),
    forged('scheme', 'It is part of the target URI.', { urls: [`http://api.example.com${CHAT}`] }),
    forged('created', 'A second later.', withInput(input.replace(String(NOW), String(NOW + 1)))),
    forged('algorithm left out', 'Parameters are signed.', withInput(input.replace(';alg="ed25519"', ''))),
    forged(
      'order',
      'The components’ order is signed.',
      withInput(input.replace('"@method" "@target-uri"', '"@target-uri" "@method"')),
    ),
    forged('signature', 'Of another key.', {
      headers: { ...first.headers, signature: stranger.headers['signature'] ?? '' },
    }),
    forged('short signature', 'Not 64 bytes.', { headers: { ...first.headers, signature: 'agent=:AAAA:' } }),
  ];
}

async function refusedCases(): Promise<MessageSignatureCase[]> {
  const first = await good();
  const refused = (name: string, comment: string, request: Partial<Request>): MessageSignatureCase => ({
    name: `refused: ${name}`,
    comment,
    method: first.method,
    urls: first.urls,
    headers: first.headers,
    body: first.body,
    now: first.now,
    ...request,
    expected: { code: 'signature_invalid' },
  });
  const withHeaders = (headers: Readonly<Record<string, string>>): Partial<Request> => ({
    headers: { ...first.headers, ...headers },
  });
  const without = (name: string): Partial<Request> => ({
    headers: Object.fromEntries(Object.entries(first.headers).filter(([key]) => key !== name)),
  });
  const input = first.headers['signature-input'] ?? '';
  const uncovered = (missing: string) => own(ALL.filter((name) => name !== missing));
  return [
    refused('method not covered', 'It could be changed.', await uncovered('@method')),
    refused('target not covered', 'It could be changed.', await uncovered('@target-uri')),
    refused('agent not covered', 'Another could be named.', await uncovered('x-agent-did')),
    refused('digest not covered', 'The body could be changed.', await uncovered('content-digest')),
    refused(
      'authority not covered',
      'A service could pass the request on to another.',
      await own(['@method', '@path', 'x-agent-did', 'content-digest']),
    ),
    refused(
      'query not covered',
      'There is one.',
      await own(
        ['@method', '@authority', '@path', 'x-agent-did', 'content-digest'],
        {},
        { path: '/v1/x?a=1' },
      ),
    ),
    refused('body changed', 'The digest is of another.', { body: `${BODY} ` }),
    refused('body gone', 'The digest is of another.', { body: '' }),
    refused('no digest', 'It is covered and absent.', without('content-digest')),
    refused(
      'digest of another algorithm',
      'SHA-256 is asked for.',
      await own(
        ALL,
        {},
        {
          headers: { 'content-digest': `sha-512=:${toBase64(new Uint8Array(64))}:` },
        },
      ),
    ),
    refused(
      'digest in base64url',
      'Byte sequences are base64.',
      await own(
        ALL,
        {},
        {
          headers: { 'content-digest': `sha-256=:${toBase64url(new Uint8Array(32).fill(255))}:` },
        },
      ),
    ),
    refused('no created', 'It would be good for ever.', await own(ALL, { created: '' })),
    refused('created as text', 'It is an integer.', await own(ALL, { created: String(NOW) })),
    refused('too old', '301 s ago.', await own(ALL, { created: NOW - 301 })),
    refused('too new', '301 s ahead.', await own(ALL, { created: NOW + 301 })),
    refused('expired', 'A second ago.', await own(ALL, { expires: NOW - 1 })),
    refused('no nonce', 'It could be used again.', await own(ALL, { nonce: '' })),
    refused('nonce of 256 characters', 'At most 255.', await own(ALL, { nonce: 'n'.repeat(256) })),
    refused('another algorithm', 'Ed25519 only.', await own(ALL, { alg: 'hmac-sha256' })),
    refused('no keyid', 'Whose is it?', await own(ALL, { keyid: '' })),
    refused('keyid of another', 'It is not a key of the DID.', await own(ALL, { keyid: didOf('stranger') })),
    refused(
      'another agent',
      'The header is not the keyid’s.',
      withHeaders({ 'x-agent-did': didOf('stranger') }),
    ),
    refused(
      'agent that is no DID',
      'A name alone has no key.',
      await own(ALL, { keyid: 'agent' }, { headers: { 'x-agent-did': 'agent' } }),
    ),
    refused('no agent', 'Nobody is named.', without('x-agent-did')),
    refused(
      'two agents',
      'A header sent twice.',
      withHeaders({ 'x-agent-did': `${didOf('agent')}, ${didOf('agent')}` }),
    ),
    refused('no signature', 'Only its input.', without('signature')),
    refused('no input', 'Only the signature.', without('signature-input')),
    refused(
      'labels differ',
      'No signature of that label.',
      withHeaders({
        'signature-input': input.replace(/^agent=/, 'other='),
      }),
    ),
    refused(
      'input is no list',
      'A member is an item.',
      withHeaders({ 'signature-input': 'agent="@method"' }),
    ),
    refused(
      'input is no structured field',
      'A list is not closed.',
      withHeaders({
        'signature-input': 'agent=("@method"',
      }),
    ),
    refused(
      'two of the agent',
      'Which of them?',
      withHeaders({
        'signature-input': `${input}, ${input.replace(/^agent=/, 'other=')}`,
      }),
    ),
    refused('covered twice', 'No base holds a line twice.', await own([...ALL, '@method'])),
    refused(
      'component with a parameter',
      'Not read here.',
      withHeaders({
        'signature-input': input.replace('"x-agent-did"', '"x-agent-did" "date";sf'),
      }),
    ),
    refused(
      'component of an answer',
      'A request has no status.',
      withHeaders({
        'signature-input': input.replace('"@method"', '"@method" "@status"'),
      }),
    ),
    refused(
      'header that is not there',
      'It is covered.',
      withHeaders({
        'signature-input': input.replace('"@method"', '"@method" "date"'),
      }),
    ),
  ];
}
