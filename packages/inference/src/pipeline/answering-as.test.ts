import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { renamer } from './answering-as.ts';

const ID = 'openai/gpt-4o';
const renamed = (text: string): string => {
  const { text: out, json } = renamer(ID)({ text, json: JSON.parse(text) as JsonObject });
  expect(JSON.parse(out)).toEqual(json);
  return out;
};

it.each([
  ['keeps the rest to the byte', '{"a":1.0, "model" : "m","b":[ ]}', `{"a":1.0, "model" : "${ID}","b":[ ]}`],
  ['reads an escaped name', '{"model":"m\\u0061\\"","b":1}', `{"model":"${ID}","b":1}`],
  ['adds no name', '{"b":1}', '{"b":1}'],
  ['keeps its own', `{"b":1.0,"model":"${ID}"}`, `{"b":1.0,"model":"${ID}"}`],
  [
    'is not misled by a text',
    '{"c":"\\"model\\":\\"x\\"","model":"m"}',
    `{"c":"\\"model\\":\\"x\\"","model":"${ID}"}`,
  ],
  ['is not misled by a value', '{"role":"model","model":"m"}', `{"role":"model","model":"${ID}"}`],
  ['leaves another object’s model', '{"c":{"model":"x"},"model":"m"}', `{"c":{"model":"x"},"model":"${ID}"}`],
  [
    'reads the name of a member that is escaped',
    '{"c":{"model":"m"},"mod\\u0065l":"m"}',
    `{"c":{"model":"m"},"model":"${ID}"}`,
  ],
  ['replaces what is no text', '{"model":null,"b":1}', `{"model":"${ID}","b":1}`],
])('%s', (_, text, expected) => {
  expect(renamed(text)).toBe(expected);
});

it('gives each chunk of a stream the name, also where one begins otherwise or names a model twice', () => {
  const rename = renamer(ID);
  const head = '{"n":1.0,"model":"m"';
  const texts = [
    `${head},"c":"a"}`,
    `${head},"c":"b"}`,
    `${head},"mod\\u0065l":"n"}`,
    `${head},"model":"n"}`,
  ];
  const others = ['{"model":"other"}', `${head}}`, '{"c":{"model":"m"}}', '{"c":{"model":"m"},"model":"o"}'];
  for (const text of [...texts, ...others, ...texts]) {
    const parsed = JSON.parse(text) as JsonObject;
    const { text: out, json } = rename({ text, json: parsed });
    expect(json).toEqual('model' in parsed ? { ...parsed, model: ID } : parsed);
    expect(JSON.parse(out)).toEqual(json);
  }
  expect(rename({ text: `${head},"c":1.0}`, json: { n: 1, model: 'm', c: 1 } }).text).toBe(
    `{"n":1.0,"model":"${ID}","c":1.0}`,
  );
});
