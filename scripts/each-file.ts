// Vitest loads this anew for each test file, and the other module once a process.
import { afterAll } from 'vitest';
import { endFile } from './end-of-file.ts';

afterAll(endFile);
