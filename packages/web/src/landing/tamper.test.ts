import { describe, expect, test } from 'vitest';
import { tamper } from './tamper.ts';

describe('tamper', () => {
  test.each([
    ['{"purpose": "demo"}', '{"purpose": "bemo"}'],
    ['{"purpose":"bill"}', '{"purpose":"dill"}'],
    ['{"hash": "sha256:0a", "purpose": ""}', '{"hash": "sha256:ba", "purpose": ""}'],
    ['{"hash": "sha256:ba", "purpose": "\\"x"}', '{"hash": "sha256:da", "purpose": "\\"x"}'],
  ])('%s becomes %s', (text, expected) => {
    const change = tamper(text);
    expect(change?.text).toBe(expected);
    expect(text.charAt(change?.at ?? -1)).toBe(change?.from);
    expect(expected.charAt(change?.at ?? -1)).toBe(change?.to);
  });

  test('leaves alone what it does not know', () => {
    expect(tamper('{"purpose": null}')).toBeNull();
  });
});
