import { pino } from 'pino';
import { startDevnet } from '../../chain/src/devnet.ts';

/** Runs the development chain of a folder, says its address, and stops it when standard input ends. */
const [dataDir = ''] = process.argv.slice(2);
const devnet = await startDevnet({ dataDir, chainId: 31_337, logger: pino({ level: 'silent' }) });
console.log(devnet.rpcUrl);
for await (const _ of process.stdin);
await devnet.stop();
