import { afterAll } from 'vitest';
import { dropDatabase } from './service.ts';

// The suites of the service share a process and its modules, of which each would load all else.
afterAll(dropDatabase);
