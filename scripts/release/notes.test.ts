import { expect, it } from 'vitest';
import { notesOf } from './notes.ts';

const changelog = `# Changelog

## [Unreleased]

### Added

- What comes.

## [0.2.0] - 2027-01-31

### Fixed

- A \`## [0.1.0]\` in a line.

## [0.1.0] - 2026-12-01

- All.
`;

it('are the part of the version', () => {
  expect(notesOf(changelog, '0.2.0')).toEqual({
    released: true,
    text: '### Fixed\n\n- A `## [0.1.0]` in a line.\n',
  });
  expect(notesOf(changelog, '0.1.0').text).toBe('- All.\n');
});

it('are what is unreleased, where the version has no part yet', () => {
  expect(notesOf(changelog, '0.3.0')).toEqual({ released: false, text: '### Added\n\n- What comes.\n' });
});

it('are missing where there is nothing to tell', () => {
  expect(() => notesOf('# Changelog\n\n## [Unreleased]\n', '0.3.0')).toThrow('says nothing of version 0.3.0');
});
