import { TallyError } from '@tallystick/core';
import { expect, it } from 'vitest';
import { describeError } from './describe-error.ts';

it('tells a refusal by its code and its causes, without a stack', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  const thrown = new TallyError('unavailable', 'The database is not there.', {
    cause: new TypeError('fetch failed', { cause: refused }),
  });
  expect(describeError(thrown)).toEqual({
    type: 'TallyError',
    message: 'The database is not there.',
    code: 'unavailable',
    cause: {
      type: 'TypeError',
      message: 'fetch failed',
      cause: { type: 'Error', message: refused.message, code: 'ECONNREFUSED' },
    },
  });
});

it.each([
  ['an error of the language', new TypeError('x is undefined')],
  ['an error without a name', new Error('There is no endpoint at /x.')],
  ['a wrong argument', Object.assign(new TypeError('wrong'), { code: 'ERR_INVALID_ARG_TYPE' })],
])('tells %s with its stack, also as a cause', (_, thrown) => {
  expect(describeError(thrown).stack).toContain('describe-error.test.ts');
  const outer = new TallyError('internal', 'Something broke.', { cause: thrown });
  expect(describeError(outer)).toMatchObject({ code: 'internal', cause: { stack: thrown.stack } });
});

it('ends in a circle of causes', () => {
  const thrown = new Error('one');
  thrown.cause = thrown;
  expect(JSON.stringify(describeError(thrown))).toContain('one');
});

it('tells what is no error', () => {
  expect(describeError('gone')).toEqual({ type: 'string', message: 'gone' });
});
