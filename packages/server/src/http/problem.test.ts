import { TallyError } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { isFault, problemAnswer, toProblem } from './problem.ts';

const docs = { receiptsUrl: 'https://receipts.test', requestId: 'abc' };

describe('toProblem', () => {
  it('carries code, status, title, detail, field and instance', () => {
    const error = new TallyError('missing_field', 'purpose is required.', { field: 'purpose' });
    expect(toProblem(error, docs)).toEqual({
      type: 'https://receipts.test/docs/errors#missing_field',
      title: 'A required field is missing',
      status: 422,
      detail: 'purpose is required.',
      code: 'missing_field',
      field: 'purpose',
      instance: 'urn:request:abc',
    });
  });

  it.each([
    [new Error('password=hunter2 at db:5432')],
    ['hunter2'],
    [undefined],
    [new RangeError('hunter2')],
  ])('says nothing of what %s says', (thrown) => {
    const problem = toProblem(thrown, docs);
    expect(problem).toMatchObject({ status: 500, code: 'internal' });
    expect(problem).not.toHaveProperty('field');
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });

  it('is well-formed Unicode where a message cuts a surrogate pair', () => {
    const { detail } = toProblem(new TallyError('not_found', `There is no “${'🦀'.slice(0, 1)}”.`), docs);
    expect(detail).toBe('There is no “\ufffd”.');
  });

  it('keeps a cause inside', () => {
    const error = new TallyError('unavailable', 'Try again.', { cause: new Error('hunter2') });
    expect(problemAnswer(toProblem(error, docs)).body).not.toContain('hunter2');
  });
});

describe('isFault', () => {
  it.each([
    [new TallyError('missing_field', ''), false],
    [new TallyError('unavailable', ''), true],
    [new TallyError('internal', ''), true],
    [new Error('x'), true],
    [null, true],
  ])('%s: %s', (thrown, expected) => {
    expect(isFault(thrown)).toBe(expected);
  });
});
