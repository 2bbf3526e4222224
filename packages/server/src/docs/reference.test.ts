import { z } from '@hono/zod-openapi';
import { describe, expect, it } from 'vitest';
import { testFrame } from '../../test/frame.ts';
import { json } from '../http/answer.ts';
import { createApi } from '../http/api.ts';
import { endpoint } from '../http/endpoint.ts';
import { curlOf } from './curl.ts';
import { html, prose } from './html.ts';
import { operationsByGroup } from './operation.ts';
import { referencePage } from './reference.ts';
import { fieldsOf, typeOf } from './schema.ts';

const named = z.looseObject({}).openapi('Thing', { description: 'A thing.' });

const api = createApi(testFrame());
api.add(
  endpoint({
    method: 'put',
    path: '/things/{id}/{part}',
    operationId: 'makeThing',
    credentials: ['none', 'apiKey'],
    group: 'Things & more',
    summary: 'Make <one>',
    description: 'With `code`.',
    availability: 'pilot',
    params: z.object({ id: z.string().openapi({ example: 'a1' }), part: z.string() }),
    body: z.strictObject({
      text: z.string().min(1).max(9).describe('Some text.'),
      count: z.int().nonnegative().optional(),
      kind: z.enum(['a', 'b']).default('a'),
      inner: z.array(z.strictObject({ deep: z.literal(true) })).optional(),
      either: z.union([z.string(), z.strictObject({ did: z.string() })]),
    }),
    example: { text: "it's" },
    answers: { 200: { description: 'Made', schema: named }, 204: { description: 'Not needed' } },
    errors: ['issuer_exists'],
    handle: () => json({}),
  }),
  endpoint({
    method: 'post',
    path: '/notes',
    operationId: 'makeNote',
    group: 'Notes',
    summary: 'Make a note',
    availability: 'live',
    headers: { Accept: 'What is wanted.' },
    body: z.strictObject({ note: z.string() }).openapi('Note'),
    answers: { 204: { description: 'Made' } },
    handle: () => json({}),
  }),
);

const [operation] = [...operationsByGroup(api.document()).values()].flat();
if (operation === undefined) throw new Error('no operation');
const schema = operation.body?.schema ?? {};

describe('html', () => {
  it('escapes what it is given', () => {
    expect(html`<p title="${`"'`}">${'<b>&'}</p>`.markup).toBe('<p title="&quot;&#39;">&lt;b&gt;&amp;</p>');
  });

  it('joins lists and drops nothing-values', () => {
    expect(html`${[html`<i></i>`, 'a<', 1]}${null}${undefined}`.markup).toBe('<i></i>a&lt;1');
  });

  it('makes code of backticks', () => {
    expect(prose('a `<b>` c').markup).toBe('a <code>&lt;b&gt;</code> c');
  });
});

describe('curlOf', () => {
  it('fills examples in, leaves the rest to the shell, and survives a quote', () => {
    expect(curlOf(operation, 'https://x.test')).toBe(
      [
        'curl -sS -X PUT "https://x.test/things/a1/$PART" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d '{\n  "text": "it'\\''s"\n}'`,
      ].join('\n'),
    );
  });
});

it('a key that is needed is in the command, as a variable of the shell', () => {
  const needed = { ...operation, credentials: [['tenantKey']] };
  expect(curlOf(needed, '')).toContain(`-H "Authorization: Bearer $TENANT_KEY"`);
});

describe('fieldsOf', () => {
  it('lists members with those of nested ones, and what is required', () => {
    expect(fieldsOf(schema).map(({ parent, name, required }) => [`${parent}${name}`, required])).toEqual([
      ['text', true],
      ['count', false],
      ['kind', false],
      ['inner', false],
      ['inner[].deep', true],
      ['either', true],
      ['either.did', false],
    ]);
  });
});

describe('typeOf', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ type: 'array', items: { type: 'integer' } }, 'list of integer'],
    [
      { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/A' }] },
      'string or <a href="#document-A">A</a>',
    ],
    [{ enum: ['a'] }, 'one of'],
    [{ const: 1 }, 'constant'],
    [{}, 'any JSON'],
  ])('%j', (given, expected) => {
    expect(typeOf(given).markup).toBe(expected);
  });
});

describe('referencePage', () => {
  const page = referencePage(api.document());

  it.each([
    [
      'the group, escaped',
      '<section class="group" id="things-more"><h2><a class="anchor" href="#things-more">Things &amp; more',
    ],
    ['the summary, escaped', 'Make &lt;one&gt;'],
    ['the label', '<span class="tag pilot">pilot</span>'],
    ['bounds', '1 to 9 characters'],
    ['a lower bound alone', 'at least 0'],
    ['choices', '<code>a</code> <code>b</code> · default <code>a</code>'],
    ['a named document', 'id="document-Thing"'],
    ['its codes', '<a href="/docs/errors#issuer_exists">issuer_exists</a>'],
    ['every answer', 'Answers 204'],
    ['its credentials', 'none, or <a href="#credential-apiKey">apiKey</a>'],
    ['how a credential is sent', '<dt>apiKey</dt><dd><code>Authorization: Bearer …</code>'],
    ['the members of a body that has a name', '<span class="name"><span class="parent"></span>note</span>'],
    ['the name of that body', '<p>The body is: <a href="#document-Note">Note</a>.</p>'],
    ['a header that is no parameter', '<p><code>Accept</code>: What is wanted.</p>'],
  ])('shows %s', (_, markup) => {
    expect(page).toContain(markup);
  });
});
