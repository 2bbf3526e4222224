import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { openApiFaults } from './openapi-faults.ts';

const operation = { responses: { 200: { description: 'ok', $ref: '#/components/x~1y%7Ez' } } };
const good: JsonObject = {
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths: {
    '/a': { get: { ...operation, operationId: 'a' } },
    '/b/{id}': { parameters: [{ in: 'path', name: 'id' }], get: operation, summary: 'x' },
    '/c/{id}': { post: { ...operation, parameters: [{ $ref: '#/paths' }] } },
  },
  components: { 'x/y~z': { $ref: 'elsewhere.json#/x' } },
};

it('a sound document has none', () => {
  expect(openApiFaults(good)).toEqual([]);
  expect(openApiFaults({ ...good, openapi: '3.0.4' })).toEqual([]);
});

it.each<[string, JsonObject]>([
  ['openapi is not 3.0.x or 3.1.x', { ...good, openapi: '2.0' }],
  ['info lacks title or version', { ...good, info: { title: 't' } }],
  ['paths is empty', { ...good, paths: {} }],
  ['paths is empty', { ...good, paths: [] }],
  ['the path a does not begin with /', { ...good, paths: { a: {} } }],
  ['/a is not an object', { ...good, paths: { '/a': 1 } }],
  ['GET /a is not an object', { ...good, paths: { '/a': { get: 1 } } }],
  ['GET /a has no responses', { ...good, paths: { '/a': { get: {} } } }],
  [
    'GET /a has a response whose name is not a status',
    { ...good, paths: { '/a': { get: { responses: { ok: {} } } } } },
  ],
  [
    'the operationId x appears twice',
    {
      ...good,
      paths: { '/a': { get: { ...operation, operationId: 'x' }, post: { ...operation, operationId: 'x' } } },
    },
  ],
  ['GET /{id} does not describe its parameter id', { ...good, paths: { '/{id}': { get: operation } } }],
  [
    '#/components/none points to nothing',
    { ...good, components: { ...(good.components as JsonObject), a: [{ $ref: '#/components/none' }] } },
  ],
  [
    '#/%zz points to nothing',
    { ...good, components: { ...(good.components as JsonObject), a: { $ref: '#/%zz' } } },
  ],
])('%s', (fault, document) => {
  expect(openApiFaults(document)).toEqual([fault]);
});

it('gives the first five of many', () => {
  const refs = Array.from({ length: 50 }, (_, index) => ({ $ref: `#/none/${index}` }));
  expect(openApiFaults({ ...good, refs })).toHaveLength(5);
});
