import { expect, test } from 'vitest';
import { segmentsOf } from './segments.ts';

const kindOf = (value: unknown): string | undefined => segmentsOf(JSON.stringify(value))[0]?.kind;
const properties = { name: { type: 'string' }, size: { type: 'number' } };

test.each([
  ['a JSON Schema', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }],
  ['an object of a schema', { type: 'object', properties }],
  ['an OpenAPI document', { openapi: '3.1.0', info: {}, paths: {} }],
  ['a tool definition', { name: 'find', parameters: { type: 'object', properties } }],
  [
    'tool definitions',
    [{ type: 'function', function: { name: 'find', parameters: { type: 'object', properties } } }],
  ],
])('%s is a schema', (_name, value) => {
  expect(kindOf(value)).toBe('schema');
});

test.each([
  [
    'GeoJSON',
    {
      type: 'FeatureCollection',
      features: [{ type: 'Feature', properties: { name: 'Fyn' }, geometry: null }],
    },
  ],
  ['a record with properties', { id: '51', properties: { email: 'a@example.com', type: 'object' } }],
  [
    'records with references',
    [
      { name: 'a', next: { $ref: '#/1' } },
      { name: 'b', next: null },
    ],
  ],
  ['parameters of a job', { job: 'sum', parameters: { type: 'nightly', size: 4 } }],
])('%s is data', (_name, value) => {
  expect(kindOf(value)).toBe('json');
});
