import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that lists postings by their state. */
export const postingStates: AddedIndex = {
  name: 'posting-states',
  index: {
    name: 'postings_state',
    on: sql`postings (state, sequence)`,
  },
};
