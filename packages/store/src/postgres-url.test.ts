import { expect, it } from 'vitest';
import { readPostgresUrl } from './postgres-url.ts';

it.each([
  ['postgres://u:p@db/x', ['postgres://u:p@db/x'], null],
  [
    'postgresql://db:5433/x?options=-csearch_path%3Ds',
    ['postgresql://db:5433/x?options=-csearch_path%3Ds'],
    null,
  ],
  ['postgres://u:p@h1:5432,h2/x', ['postgres://u:p@h1:5432/x', 'postgres://u:p@h2/x'], 'read-write'],
  ['postgres://[::1]:5,[::2]:6/x', ['postgres://[::1]:5/x', 'postgres://[::2]:6/x'], 'read-write'],
  [
    'postgres://u:p@h1,h2/x?application_name=a&target_session_attrs=primary',
    ['postgres://u:p@h1/x?application_name=a', 'postgres://u:p@h2/x?application_name=a'],
    'primary',
  ],
  ['postgres://h1/x?target_session_attrs=read-write', ['postgres://h1/x'], 'read-write'],
])('%s', (url, urls, must) => {
  expect(readPostgresUrl(url)).toEqual({ urls, must });
});

it.each([
  'mysql://db/x',
  'db/x',
  '',
  'postgres://h1,,h2/x',
  'postgres://h1:x,h2/x',
  'postgres://h1,h2/x?target_session_attrs=standby',
])('refuses %s', (url) => {
  expect(readPostgresUrl(url)).toBeNull();
});
