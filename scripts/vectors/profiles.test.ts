import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { profiles, RECOMMENDATION_RULES, type RecommendationRule } from '../../packages/core/src/index.ts';
import { FORMS } from '../../packages/core/src/receipts/profiles/registry.ts';
import { profilesText } from './profiles.ts';

const spec = (path: string): URL => new URL(`../../spec/${path}`, import.meta.url);

test('spec/profiles.json says what the descriptors say', () => {
  expect(readFileSync(spec('profiles.json'), 'utf8'), 'Run npm run vectors.').toBe(profilesText());
});

test('the verifier knows every profile, and no other', () => {
  expect(FORMS).toEqual(profiles.map(({ form }) => form));
});

test('each rule of the recommender recommends one profile', () => {
  const rules = profiles.flatMap(({ recommendedBy }): readonly RecommendationRule[] => recommendedBy);
  expect(rules.toSorted()).toEqual(RECOMMENDATION_RULES.toSorted());
});

describe.each(profiles)('$name', ({ name, form, maxEmitted }) => {
  test('has one name, and emits no more than is valid', () => {
    expect(form.name).toBe(name);
    expect(maxEmitted).toBeLessThanOrEqual(form.maxBytes ?? Infinity);
  });

  test('has a JSON Schema and vectors', () => {
    expect(existsSync(spec(`schemas/${name}.schema.json`))).toBe(true);
    expect(existsSync(spec(`vectors/${name}.json`))).toBe(true);
  });
});
