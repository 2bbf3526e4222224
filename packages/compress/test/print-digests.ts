import { digests } from './fixed.ts';

process.stdout.write(`${JSON.stringify(digests(), null, 2)}\n`);
