import { Option } from 'commander';
import { UsageError } from '../output.ts';

/** The option `--rpc`: URL of a node of the chain. It may hold a secret, so no message repeats it. */
export function rpcOption(): Option {
  return new Option('--rpc [url]', 'also ask the chain, through this node (default: TALLY_CHAIN_RPC_URL)')
    .preset(process.env.TALLY_CHAIN_RPC_URL ?? '')
    .argParser(rpcUrl);
}

/**
 * The option `--rpc` of a command that reads the service's settings. Without a URL its value is `true`, for the node that those
 * name.
 */
export function serviceRpcOption(): Option {
  return new Option(
    '--rpc [url]',
    'also ask the chain, through this node (default: that of the service)',
  ).argParser(rpcUrl);
}

/** @throws UsageError */
function rpcUrl(text: string): string {
  if (text === '') throw noRpcUrl();
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError('--rpc takes the URL of a node of the chain, such as https://rpc.example.com.');
}

/** The error where `--rpc` has no URL, and no setting names one. */
export function noRpcUrl(): UsageError {
  return new UsageError('Give --rpc the URL of a node of the chain, or set TALLY_CHAIN_RPC_URL.');
}
